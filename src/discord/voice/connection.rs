//! One voice connection and the tasks that feed it.
//!
//! Entry type: [`VoiceConnection`].
//! **Never**: decides who may be heard; the guild fills [`Audience`].

use std::{sync::Arc, time::Duration};

use serenity::all::{ChannelId, GuildId};
use songbird::{Call, Config, Songbird, driver::DecodeMode, driver::MixMode, error::JoinError};
use tokio::{
    sync::{Mutex, mpsc, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    audience::Audience,
    driver_events::{DriverEvents, Dropped, VoiceNews},
    receiver::{self, HearingReport},
    track_output::{self, Ring, TrackOutput},
};
use crate::{audio::Frame, session::VoiceInput};

/// News of a connection waiting for the guild.
const NEWS_CAPACITY: usize = 64;
/// A connection that does not stand by then has failed.
const JOIN_PATIENCE: Duration = Duration::from_secs(20);

/// How songbird is set up for us.
pub fn config() -> Config {
    Config::default()
        // Its decoder reads noise under DAVE; ours takes the packets.
        .decode_mode(DecodeMode::Decrypt)
        .mix_mode(MixMode::Mono)
        .preallocated_tracks(4)
}

/// A voice connection, and what feeds it.
pub struct VoiceConnection {
    songbird: Arc<Songbird>,
    guild: GuildId,
    call: Arc<Mutex<Call>>,
    /// Who may be heard.
    pub audience: Audience,
    /// What the connection says.
    pub news: mpsc::Receiver<VoiceNews>,
    /// How everybody is heard.
    pub hearing: watch::Receiver<HearingReport>,
    /// Packets that went nowhere.
    pub dropped: Arc<Dropped>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

/// What a link is plugged into.
pub struct TableAudio {
    /// Where frames of players go.
    pub voice: mpsc::Sender<VoiceInput>,
    /// Whose tracks are played.
    pub tracks: mpsc::Receiver<Arc<Ring>>,
}

/// Where a table speaks, and the other end: the tracks that are to be started.
pub fn track_output() -> (TrackOutput, mpsc::Receiver<Arc<Ring>>) {
    let (tracks, started) = mpsc::channel(track_output::TRACK_CAPACITY);
    (TrackOutput::new(tracks), started)
}

impl VoiceConnection {
    /// Sets a connection up; [`Connector::connect`] makes it stand.
    pub async fn open(songbird: Arc<Songbird>, guild: GuildId, plug: TableAudio) -> Self {
        let audience = Audience::default();
        let dropped = Arc::new(Dropped::default());
        let (packets, packets_in) = mpsc::channel(receiver::PACKET_CAPACITY);
        let (news, news_in) = mpsc::channel(NEWS_CAPACITY);
        let (report, hearing) = watch::channel(HearingReport::default());
        let call = songbird.get_or_insert(guild);
        {
            let mut call = call.lock().await;
            call.remove_all_global_events();
            let (audience, dropped) = (audience.clone(), Arc::clone(&dropped));
            DriverEvents { audience, packets, news, dropped }.listen(&mut call);
        }
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let hear = receiver::hear(packets_in, audience.clone(), (plug.voice, report), stop.clone());
        tasks.spawn(hear);
        tasks.spawn(track_output::sing(Arc::clone(&call), plug.tracks));
        Self { songbird, guild, call, audience, news: news_in, hearing, dropped, stop, tasks }
    }

    /// What makes the connection stand, and speaks beside the NPCs.
    pub fn wire(&self) -> Connector {
        Connector {
            songbird: Arc::clone(&self.songbird),
            guild: self.guild,
            call: Arc::clone(&self.call),
            stop: self.stop.clone(),
        }
    }

    /// Leaves the channel and ends what feeds it. Cancel safe.
    pub async fn close(mut self) {
        self.stop.cancel();
        self.call.lock().await.remove_all_global_events();
        if let Err(error) = self.songbird.remove(self.guild).await {
            tracing::debug!(%error, "a voice channel was not left");
        }
        self.tasks.shutdown().await;
    }
}

/// Where a connection is to be made.
#[derive(Clone)]
pub struct Connector {
    songbird: Arc<Songbird>,
    guild: GuildId,
    call: Arc<Mutex<Call>>,
    stop: CancellationToken,
}

impl Connector {
    /// Joins `channel` and waits until the connection stands. Cancel safe.
    ///
    /// # Errors
    /// Why it does not stand, with the way out.
    pub async fn connect(&self, channel: ChannelId) -> Result<(), String> {
        let joined = tokio::time::timeout(JOIN_PATIENCE, self.songbird.join(self.guild, channel));
        let joined = tokio::select! {
            biased;
            // Whoever ends the session leaves the channel.
            () = self.stop.cancelled() => return Err("the session is over".to_owned()),
            joined = joined => joined,
        };
        let failed = match joined {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => why(&error),
            Err(_) => "discord did not answer in time".to_owned(),
        };
        self.hang_up().await;
        Err(format!("I could not join <#{channel}>: {failed}"))
    }

    /// Plays what is nobody's speech, beside whatever is being said.
    pub async fn announce(&self, frames: Vec<Frame>) {
        track_output::play(&self.call, frames).await;
    }

    /// Joins anew, whatever stands.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub async fn reconnect(&self, channel: ChannelId) -> Result<(), String> {
        self.hang_up().await;
        self.connect(channel).await
    }

    /// Leaves without forgetting who listens. Discord believes that we are there until it is told.
    async fn hang_up(&self) {
        if let Err(error) = self.songbird.leave(self.guild).await {
            tracing::debug!(%error, "a voice channel was not left");
        }
    }
}

fn why(error: &JoinError) -> String {
    match error {
        JoinError::TimedOut => {
            "discord did not let me in (is the channel full, or am I not allowed to connect? see \
             /setup)"
                .to_owned()
        }
        JoinError::Dropped => "another request came in between (try again)".to_owned(),
        JoinError::Driver(error) => {
            format!("the voice server did not answer as it should: {error} (try again)")
        }
        other => format!("{other} (try again)"),
    }
}

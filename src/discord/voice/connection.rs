//! One voice connection and the tasks that feed it.
//!
//! Entry type: [`VoiceConnection`]. **Never**: decides who may be heard; the guild fills
//! [`Audience`].

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
    music_track::play_music,
    receiver::{self, ReceiverChannels, ReceptionReport},
    track_output::{self, Ring, TrackOutput},
};
use crate::{
    audio::Frame,
    session::{MusicPlayer, VoiceInput},
};

/// News of the connection waiting for the guild.
const NEWS_CAPACITY: usize = 64;
/// A join that takes longer has failed.
const JOIN_PATIENCE: Duration = Duration::from_secs(20);

/// State of a voice connection; only the guild's voice supervisor changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    Up,
    /// Lost and reconnecting.
    Down {
        /// Shown on the panel.
        why: String,
        /// Failed attempts since the loss.
        attempts: u32,
    },
    /// The session is over.
    Left,
}

pub fn config() -> Config {
    Config::default()
        // songbird's decoder reads noise under DAVE; ours takes the packets.
        .decode_mode(DecodeMode::Decrypt)
        .mix_mode(MixMode::Mono)
        .preallocated_tracks(4)
}

pub struct VoiceConnection {
    songbird: Arc<Songbird>,
    guild: GuildId,
    call: Arc<Mutex<Call>>,
    music: MusicPlayer,
    pub audience: Audience,
    pub news: mpsc::Receiver<VoiceNews>,
    pub reception: watch::Receiver<ReceptionReport>,
    pub dropped: Arc<Dropped>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

/// The table's ends of the voice channels.
pub struct TableAudio {
    pub voice: mpsc::Sender<VoiceInput>,
    /// Tracks that the table's output wants started.
    pub tracks: mpsc::Receiver<Arc<Ring>>,
    /// Played beside speech.
    pub music: MusicPlayer,
}

/// A table's output, and the receiver of tracks to start.
pub fn track_output() -> (TrackOutput, mpsc::Receiver<Arc<Ring>>) {
    let (tracks, started) = mpsc::channel(track_output::TRACK_CAPACITY);
    (TrackOutput::new(tracks), started)
}

impl VoiceConnection {
    /// Sets up the tasks; [`Connector::connect`] joins the channel.
    pub async fn open(songbird: Arc<Songbird>, guild: GuildId, audio: TableAudio) -> Self {
        let audience = Audience::default();
        let dropped = Arc::new(Dropped::default());
        let (packets, packets_in) = mpsc::channel(receiver::PACKET_CAPACITY);
        let (news, news_in) = mpsc::channel(NEWS_CAPACITY);
        let (report, reception) = watch::channel(ReceptionReport::default());
        let call = songbird.get_or_insert(guild);
        {
            let mut call = call.lock().await;
            call.remove_all_global_events();
            let (audience, dropped) = (audience.clone(), Arc::clone(&dropped));
            DriverEvents { audience, packets, news, dropped }.listen(&mut call);
        }
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let channels = ReceiverChannels { packets: packets_in, voice: audio.voice, report };
        tasks.spawn(receiver::receive(channels, audience.clone(), stop.clone()));
        tasks.spawn(track_output::start_tracks(Arc::clone(&call), audio.tracks));
        tasks.spawn(play_music(Arc::clone(&call), audio.music.clone()));
        let (music, news) = (audio.music, news_in);
        Self { songbird, guild, call, music, audience, news, reception, dropped, stop, tasks }
    }

    /// A handle to connect with; may outlive the session.
    pub fn connector(&self) -> Connector {
        Connector {
            songbird: Arc::clone(&self.songbird),
            guild: self.guild,
            call: Arc::clone(&self.call),
            music: self.music.clone(),
            stop: self.stop.clone(),
        }
    }

    /// Leaves the channel and stops the tasks. Cancel safe.
    pub async fn close(mut self) {
        self.stop.cancel();
        self.call.lock().await.remove_all_global_events();
        if let Err(error) = self.songbird.remove(self.guild).await {
            tracing::debug!(%error, "cannot leave a voice channel");
        }
        self.tasks.shutdown().await;
    }
}

/// Reason a connection failed, for the game master.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the session is over")]
    SessionOver,
    /// Discord refused the bot, or its voice server failed.
    #[error("I could not join <#{channel}>: {}", why(.error))]
    Refused { channel: ChannelId, error: JoinError },
    /// Discord did not answer.
    #[error("I could not join <#{channel}>: discord did not answer in time")]
    Late { channel: ChannelId },
}

/// Connects, and plays the bot's own announcements.
#[derive(Clone)]
pub struct Connector {
    songbird: Arc<Songbird>,
    guild: GuildId,
    call: Arc<Mutex<Call>>,
    music: MusicPlayer,
    stop: CancellationToken,
}

impl Connector {
    /// Joins `channel` and waits until it is connected. Cancel safe.
    pub async fn connect(&self, channel: ChannelId) -> Result<(), ConnectError> {
        let joined = tokio::time::timeout(JOIN_PATIENCE, self.songbird.join(self.guild, channel));
        let joined = tokio::select! {
            biased;
            // Ending the session leaves the channel.
            () = self.stop.cancelled() => return Err(ConnectError::SessionOver),
            joined = joined => joined,
        };
        let error = match joined {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => ConnectError::Refused { channel, error },
            Err(_) => ConnectError::Late { channel },
        };
        self.hang_up().await;
        Err(error)
    }

    /// Plays an announcement beside any speech; music is lowered for it.
    pub async fn announce(&self, frames: Vec<Frame>) {
        track_output::play(&self.call, frames, self.music.clone()).await;
    }

    /// Leaves and joins again, even while connected.
    pub async fn reconnect(&self, channel: ChannelId) -> Result<(), ConnectError> {
        self.hang_up().await;
        self.connect(channel).await
    }

    /// Leaves but keeps the audience. Discord considers the bot connected until it leaves.
    async fn hang_up(&self) {
        if let Err(error) = self.songbird.leave(self.guild).await {
            tracing::debug!(%error, "cannot leave a voice channel");
        }
    }
}

/// Explains `error`, with the fix.
fn why(error: &JoinError) -> String {
    match error {
        JoinError::TimedOut => {
            "discord did not let me in (is the channel full, or am I not allowed to connect? see \
             /setup)"
                .to_owned()
        }
        JoinError::Dropped => "another request interrupted this one (try again)".to_owned(),
        JoinError::Driver(error) => {
            format!("the voice server gave an unexpected answer: {error} (try again)")
        }
        other => format!("{other} (try again)"),
    }
}

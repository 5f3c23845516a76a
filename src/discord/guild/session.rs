//! A play session that runs in a guild.
//!
//! Entry type: [`GuildSession`]. **Never**: outlives its guild's task.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use serenity::all::{ChannelId, GuildId};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, timeout},
};

use crate::discord::{
    guild::effects::{Ask, GuildEffects},
    guild::health::Health,
    guild::mic_check::MicCheck,
    ui::panel::Panel,
    voice::{self, LEAD, TableAudio, VoiceConnection},
};
use crate::{
    campaign::{OpenSession, PlayedCampaign, Sessions},
    domain::{Npc, Scope, SessionId},
    session::{Command, Conversations, EventReader, Pace, Status, TableEvents, TableHandle},
    tools::{CastChanges, Effects},
};

/// What the table tells, waiting for the panel and for the transcript: some twenty turns; whichever
/// is slower loses the oldest, with a warning.
const EVENT_CAPACITY: usize = 64;
/// What tools want of the guild, waiting.
const ASK_CAPACITY: usize = 16;
/// A table that is told to close is given up after this.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

/// A table that does not say how it stands is waited for no longer: Discord waits three seconds.
const STATUS_PATIENCE: Duration = Duration::from_secs(2);
const UNANSWERED: &str = "the table does not answer (end the session and start it again)";

/// Somebody in the voice channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What the server calls them.
    pub name: String,
    /// Whether they are a game master.
    pub is_dm: bool,
    /// Whether they are heard.
    pub heard: bool,
}

/// How the voice connection stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Players are heard and NPCs are.
    Up,
    /// It is being made anew, since.
    Down {
        /// What went wrong.
        why: String,
        /// Attempts so far.
        attempts: u32,
    },
    /// The session is over.
    Left,
}

/// A running session.
pub struct GuildSession {
    /// Its name.
    pub session: SessionId,
    /// Voice channel.
    pub voice: ChannelId,
    /// Where its panel and notices go.
    pub text: ChannelId,
    /// The table.
    pub table: TableHandle,
    /// The NPCs at it, in the order of its seats.
    pub cast: Vec<Arc<Npc>>,
    /// The voice connection.
    pub link: VoiceConnection,
    /// How it stands.
    pub standing: Standing,
    /// What the table tells.
    pub events: EventReader,
    /// What tools want.
    pub asks: mpsc::Receiver<Ask>,
    /// How tools reach the guild.
    pub face: Arc<GuildEffects>,
    /// Who tries whether they are heard.
    pub trials: Vec<MicCheck>,
    /// Who is in the channel, by user.
    pub people: BTreeMap<u64, Person>,
    /// Since when nobody but bots is there.
    pub alone_since: Option<Instant>,
    /// Discord has shown the bot in the channel since the connection was made.
    pub seen: bool,
    /// Who is being told that they are heard, or was.
    pub told: BTreeSet<u64>,
    /// Who knows it.
    pub warned: BTreeSet<u64>,
    /// The message that shows how it stands.
    pub panel: Panel,
    /// What is known of the connection's health.
    pub health: Health,
    task: JoinHandle<Conversations>,
    /// Has what the table tells written down, until it is closed.
    transcript: JoinHandle<()>,
}

/// What a session is opened with.
pub struct Wanted {
    /// Where.
    pub guild: GuildId,
    /// Its name.
    pub session: SessionId,
    /// The one before.
    pub after: Option<SessionId>,
    /// Voice channel.
    pub voice: ChannelId,
    /// Where its panel goes.
    pub text: ChannelId,
    /// What the game master has changed about the NPCs' tools.
    pub tools: CastChanges,
    /// The campaign; `None`: the one that is configured.
    pub played: Option<PlayedCampaign>,
    /// Whose session it is.
    pub scope: Scope,
}

impl GuildSession {
    /// Opens a table and brings it into the voice channel.
    ///
    /// # Errors
    /// What did not work, with the way out; nothing is left behind.
    pub async fn open(
        sessions: Sessions,
        songbird: Arc<songbird::Songbird>,
        wanted: Wanted,
    ) -> Result<Self, String> {
        let (output, tracks) = voice::track_output();
        let (asks, asks_in) = mpsc::channel(ASK_CAPACITY);
        let events = TableEvents::new(EVENT_CAPACITY);
        let (told, to_be_written) = (events.subscribe(), events.subscribe());
        let face = Arc::new(GuildEffects::new(asks));
        let opened = sessions
            .open(OpenSession {
                session: wanted.session.clone(),
                scope: wanted.scope,
                after: wanted.after,
                out: Box::new(output),
                pace: Pace::Ahead(LEAD),
                effects: Arc::clone(&face) as Arc<dyn Effects>,
                events,
                tools: wanted.tools,
                played: wanted.played,
            })
            .await
            .map_err(|why| why.to_string())?;
        let plug = TableAudio { voice: opened.handle.voice.clone(), tracks };
        let link = VoiceConnection::open(songbird, wanted.guild, plug).await;
        let transcript = sessions.write_down(wanted.session.clone(), to_be_written);
        let live = Self {
            session: wanted.session,
            voice: wanted.voice,
            text: wanted.text,
            table: opened.handle,
            cast: opened.cast,
            link,
            standing: Standing::Up,
            events: told,
            asks: asks_in,
            face,
            trials: Vec::new(),
            people: BTreeMap::new(),
            alone_since: None,
            seen: false,
            told: BTreeSet::new(),
            warned: BTreeSet::new(),
            panel: Panel::default(),
            health: Health::default(),
            task: opened.task,
            transcript: tokio::spawn(transcript),
        };
        let wire = live.link.wire();
        if let Err(why) = wire.connect(live.voice).await {
            live.close().await;
            return Err(why);
        }
        Ok(live)
    }

    /// Tells the table something; it overtakes sound.
    ///
    /// # Errors
    /// The table is gone, or has too much to do.
    pub fn tell(&self, command: Command) -> Result<(), String> {
        self.table.commands.try_send(command).map_err(|_| UNANSWERED.to_owned())
    }

    /// How things stand. Cancel safe.
    ///
    /// # Errors
    /// The table is gone, or has too much to do to say it in time.
    pub fn status(&self) -> BoxFuture<'static, Result<Status, String>> {
        let (ask, answer) = oneshot::channel();
        let told = self.tell(Command::Status(ask));
        async move {
            told?;
            match timeout(STATUS_PATIENCE, answer).await {
                Ok(Ok(status)) => Ok(status),
                _ => Err(UNANSWERED.to_owned()),
            }
        }
        .boxed()
    }

    /// Ends it: the NPCs fall silent, everything the table told is handed to the transcript, the
    /// channel is left; what is worth keeping.
    pub async fn close(self) -> (SessionId, Conversations) {
        // A table that is gone is closed.
        let _ = self.table.commands.send(Command::Close).await;
        drop(self.table);
        let mut task = self.task;
        let kept = match timeout(CLOSE_PATIENCE, &mut task).await {
            Ok(Ok(kept)) => kept,
            Ok(Err(error)) => {
                tracing::error!(%error, "a table has failed");
                Conversations::default()
            }
            Err(_) => {
                task.abort();
                Conversations::default()
            }
        };
        let mut transcript = self.transcript;
        if timeout(CLOSE_PATIENCE, &mut transcript).await.is_err() {
            transcript.abort();
            tracing::error!("what a table told at its end is not written down");
        }
        self.link.close().await;
        (self.session, kept)
    }
}

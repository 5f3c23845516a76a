//! A play session that runs in a guild.
//!
//! Entry type: [`GuildSession`]. **Never**: outlives its guild's task.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use serenity::all::{ChannelId, GuildId};
use songbird::Songbird;
use tokio::{
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinHandle},
    time::{Instant, timeout},
};

use super::{
    effects::{GuildEffects, ToolRequest},
    mic_check::MicChecks,
    panel::PanelMessage,
    people::People,
    refusal::GuildRefusal,
    supervisor::VoiceSupervisor,
};
use crate::{
    campaign::{Engines, PlayedCampaign, Sessions, TableRequest, close_table},
    discord::{
        capacity::SessionPlace,
        tenure::Tenure,
        ui::panel::{PanelView, Rendered, render},
        voice::{self, LEAD, TableAudio, VoiceConnection, VoiceNews},
    },
    domain::{CampaignKey, Scope, SessionId},
    figures::Listeners,
    logic::music::MusicOrder,
    session::{
        Command, Conversations, EventReader, Halts, MusicPlayer, Outlets, Pace, Seated, Speaker,
        SpeakerId, Status, TableEvent, TableEvents, TableHandle,
    },
    tools::{CastChanges, Effects},
};

/// Events of the table waiting for the panel and the transcript: some twenty turns. A slower reader
/// loses the oldest, with a warning.
const EVENT_CAPACITY: usize = 64;
/// Requests of tools waiting for the guild. When full, output is dropped and questions wait.
const REQUEST_CAPACITY: usize = 16;
/// Longest wait for a table's status: Discord waits three seconds.
const STATUS_PATIENCE: Duration = Duration::from_secs(2);

pub struct GuildSession {
    /// Dropped first, so that it ends the tasks before they notice that all else is gone.
    unfinished: Unfinished,
    pub id: SessionId,
    pub campaign: CampaignKey,
    /// Changes when the bot is moved.
    pub voice_channel: ChannelId,
    pub text_channel: ChannelId,
    pub voice: VoiceSupervisor,
    pub effects: Arc<GuildEffects>,
    pub mic_checks: MicChecks,
    pub people: People,
    listeners: Listeners,
    /// Reason for hearing no player, with the fix.
    pub cannot_hear: Option<String>,
    pub engines: Arc<dyn Engines>,
    pub panel: PanelMessage,
    /// The NPC that is about to answer, or speaks.
    pub answering: Option<String>,
    /// Outside services that the table knows as announced.
    announced: Option<BTreeSet<String>>,
    table: TableHandle,
    task: JoinHandle<Conversations>,
    events: EventReader,
    /// Writes the table's events until it is closed.
    transcript: JoinHandle<()>,
    requests: mpsc::Receiver<ToolRequest>,
    /// Free once the session is closed.
    _place: SessionPlace,
}

pub struct SessionOptions {
    pub guild: GuildId,
    pub id: SessionId,
    pub after: Option<SessionId>,
    /// It was interrupted: when it began, as Unix time in ms.
    pub began: Option<i64>,
    pub voice: ChannelId,
    pub text: ChannelId,
    pub volume: Option<u8>,
    pub tools: CastChanges,
    /// Of the guild's shard.
    pub tenure: Tenure,
    pub place: SessionPlace,
    /// `None`: the configured campaign.
    pub played: Option<PlayedCampaign>,
    pub scope: Scope,
}

impl SessionOptions {
    /// Asks for its table.
    fn request(&self, outlets: Outlets) -> TableRequest {
        TableRequest {
            session: self.id.clone(),
            scope: self.scope.clone(),
            played: self.played.clone(),
            after: self.after.clone(),
            began: self.began,
            is_heard: true,
            outlets,
        }
    }
}

pub enum SessionEvent {
    Table(Option<TableEvent>),
    Voice(VoiceNews),
    Tool(ToolRequest),
}

pub struct ClosedSession {
    pub id: SessionId,
    /// Conversations that the next session resumes; `None`: the table failed.
    pub kept: Option<Conversations>,
    /// Call [`Unfinished::finished`] before storing them.
    pub unfinished: Unfinished,
}

/// Forgets the session when dropped, unless finished: after any fault it does not count as running.
/// Where the tenure is over, it ends the session's tasks too: they would write down what is left.
pub struct Unfinished(Option<OpenSession>);

struct OpenSession {
    sessions: Sessions,
    id: SessionId,
    tenure: Tenure,
    /// The table, and the writer of its events.
    tasks: [AbortHandle; 2],
}

impl Unfinished {
    /// Leaves ending the session to the caller.
    pub fn finished(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(OpenSession { sessions, id, tenure, tasks }) = self.0.take() else { return };
        if tenure.holds(Instant::now()) {
            // Ends with this; nothing to store.
            drop(sessions.keep(&id, None));
        } else {
            tasks.iter().for_each(AbortHandle::abort);
            sessions.abandon(&id);
        }
    }
}

impl GuildSession {
    /// Opens a table and joins the voice channel. On failure nothing is left behind.
    pub async fn open(
        sessions: Sessions,
        songbird: Arc<Songbird>,
        options: SessionOptions,
    ) -> Result<Self, GuildRefusal> {
        let (output, tracks) = voice::track_output();
        let (requests, requests_in) = mpsc::channel(REQUEST_CAPACITY);
        let events = TableEvents::new(EVENT_CAPACITY);
        let (told, to_be_written) = (events.subscribe(), events.subscribe());
        let halts = Arc::new(Halts::default());
        let effects = Arc::new(GuildEffects::new(requests, Arc::clone(&halts)));
        let music = MusicPlayer::new(events.downgrade());
        options.volume.into_iter().for_each(|it| music.order(MusicOrder::Volume(it)));
        let request = options.request(Outlets {
            out: Box::new(output),
            pace: Pace::Ahead(LEAD),
            music: music.clone(),
            effects: Arc::clone(&effects) as Arc<dyn Effects>,
            halts,
            events,
        });
        let opened = sessions.open(request, options.tools).await?;
        let (voice, figures) = (opened.handle.voice.clone(), sessions.figures().clone());
        let writing = sessions.clone().write_down(options.id.clone(), to_be_written);
        let (tenure, transcript) = (options.tenure, tokio::spawn(writing));
        let unfinished = Unfinished(Some(OpenSession {
            sessions,
            id: options.id.clone(),
            tenure: tenure.clone(),
            tasks: [opened.task.abort_handle(), transcript.abort_handle()],
        }));
        let listeners = figures.listeners();
        let audio = TableAudio { voice, tracks, music, figures, tenure };
        let connection = VoiceConnection::open(songbird, options.guild, audio).await;
        let session = Self {
            unfinished,
            id: options.id,
            campaign: options.scope.campaign,
            voice_channel: options.voice,
            text_channel: options.text,
            voice: VoiceSupervisor::new(connection),
            effects,
            mic_checks: MicChecks::default(),
            people: People::default(),
            listeners,
            cannot_hear: opened.cannot_hear,
            engines: opened.engines,
            panel: PanelMessage::default(),
            answering: None,
            announced: None,
            table: opened.handle,
            task: opened.task,
            events: told,
            transcript,
            requests: requests_in,
            _place: options.place,
        };
        if let Err(error) = session.voice.connector().connect(session.voice_channel).await {
            session.close().await;
            return Err(error.into());
        }
        Ok(session)
    }

    pub fn cast(&self) -> Arc<[Seated]> {
        Arc::clone(&self.table.seated.borrow())
    }

    /// Sends a command to the table; it overtakes sound. Fails if the table is gone or its queue
    /// full.
    pub fn tell(&self, command: Command) -> Result<(), GuildRefusal> {
        self.table.commands.try_send(command).map_err(|_| GuildRefusal::TableSilent)
    }

    pub fn sit_down(
        &self,
        speaker: Speaker,
        character: Option<&String>,
    ) -> Result<(), GuildRefusal> {
        let id = speaker.id;
        self.tell(Command::Join(speaker))?;
        match character {
            Some(name) => self.tell(Command::Character { speaker: id, name: Some(name.clone()) }),
            None => Ok(()),
        }
    }

    pub fn leave(&self, user: u64) -> Result<(), GuildRefusal> {
        self.tell(Command::Leave(SpeakerId(user)))
    }

    /// Counts the people who are heard.
    pub fn count_listeners(&mut self) {
        let is_deaf = self.cannot_hear.is_some();
        self.listeners.set(if is_deaf { 0 } else { self.people.received().count() });
    }

    /// Updates the announced outside services at the table. Call it before newly notified people
    /// are heard: their speech goes to these services.
    pub fn announce(&mut self, opted_out: &BTreeSet<u64>) {
        let known = self.people.announced(opted_out);
        let Some(known) = known.filter(|known| self.announced.as_ref() != Some(*known)) else {
            return;
        };
        let known = known.clone();
        match self.tell(Command::Announced(known.clone())) {
            Ok(()) => {
                self.engines.announced(&known);
                self.announced = Some(known);
            }
            Err(why) => tracing::warn!(%why, "the table does not know yet what is announced"),
        }
    }

    pub fn status(&self) -> BoxFuture<'static, Result<Status, GuildRefusal>> {
        let (ask, answer) = oneshot::channel();
        let told = self.tell(Command::Status(ask));
        async move {
            told?;
            match timeout(STATUS_PATIENCE, answer).await {
                Ok(Ok(status)) => Ok(status),
                _ => Err(GuildRefusal::TableSilent),
            }
        }
        .boxed()
    }

    /// `is_listened_to`: programs outside may read what is said.
    pub fn render(
        &self,
        status: Option<&Status>,
        is_listened_to: bool,
        node: Option<&str>,
    ) -> Rendered {
        let (heard, unheard) = self.people.names();
        let (connection, notes) = (self.voice.state(), self.panel.notes());
        let cannot_hear = self.cannot_hear.as_deref();
        render(&PanelView {
            status,
            heard,
            unheard,
            cannot_hear,
            is_listened_to,
            node,
            connection,
            notes,
            over: None,
        })
    }

    pub async fn next(&mut self) -> SessionEvent {
        tokio::select! {
            event = self.events.recv() => SessionEvent::Table(event),
            Some(news) = self.voice.next_news() => SessionEvent::Voice(news),
            Some(request) = self.requests.recv() => SessionEvent::Tool(request),
        }
    }

    /// Before another node goes on: hears no one from now on, and lets the NPC that answers finish
    /// within `patience`. Returns the one that has not.
    pub fn fall_silent(&self, patience: Duration) -> BoxFuture<'static, Option<String>> {
        self.voice.receive([]);
        let (done, silent) = oneshot::channel();
        let told = self.tell(Command::HandOver);
        let is_told = told.and_then(|()| self.tell(Command::AwaitSilence(done))).is_ok();
        let answering = self.answering.clone();
        async move {
            match is_told && matches!(timeout(patience, silent).await, Ok(Ok(()))) {
                true => None,
                false => answering,
            }
        }
        .boxed()
    }

    /// Ends it: silences the NPCs, passes all events to the transcript, leaves the channel.
    pub async fn close(self) -> ClosedSession {
        let kept = close_table(self.table, self.task, self.transcript).await;
        self.voice.close().await;
        ClosedSession { id: self.id, kept, unfinished: self.unfinished }
    }
}

//! A guild's state, and its methods for commands.
//!
//! Entry type: [`Guild`]. Hearing lies in `attendance`, a session's start and end in `lifecycle`,
//! its events in `watching`, tools' requests in `requests`. **Never**: waits; slow work is a
//! [`Job`] whose result returns here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};

use futures::future::BoxFuture;
use serenity::{
    all::{ChannelId, CreateMessage, GuildId, Member, Permissions, UserId},
    cache::Cache,
    http::Http,
};
use songbird::Songbird;
use tokio::{sync::oneshot, task::JoinSet};

use super::{
    approvals::Approvals, outbox::Outbox, refusal::GuildRefusal, session::GuildSession,
    settings::KeptSettings,
};
use crate::{
    campaign::{
        Consent, GuildSettings, Handles, PlayedCampaign, RunningSession, Services, ToolDecisions,
        WorldAnswer, WorldOrder, WorldRequest,
    },
    discord::{
        access, capacity::Capacity, options::Options, tenure::Tenure, ui::message::ChannelMessage,
    },
    domain::{Npc, Owner, Scope},
    panics::{Panics, caught},
    session::{Command, Status},
    tools::{SessionCalls, ToolHost},
};

/// State that all guilds of a shard share.
pub struct Shared {
    pub http: Arc<Http>,
    pub cache: Arc<Cache>,
    pub songbird: Arc<Songbird>,
    /// Of the shard.
    pub tenure: Tenure,
    /// Shards of the whole bot; the cache knows the guilds of one.
    pub shards: u32,
    /// This node and its lease, for the panel; `None`: the process serves alone.
    pub node: Option<Arc<str>>,
    /// Of this process.
    pub capacity: Capacity,
    pub handles: Handles,
    pub options: Options,
    pub me: UserId,
}

/// Work whose result changes the guild; runs on the guild's task.
pub type Job = Box<dyn FnOnce(&mut Guild) + Send>;

/// A job that changes nothing.
pub fn nothing() -> Job {
    Box::new(|_: &mut Guild| ())
}

/// A guild's state; only its task touches it.
pub struct Guild {
    pub id: GuildId,
    pub shared: Arc<Shared>,
    pub approvals: Approvals,
    pub(super) settings: KeptSettings,
    pub(super) session: Option<GuildSession>,
    /// A session that was interrupted, until it goes on or is over.
    pub(super) interrupted: Option<RunningSession>,
    /// Alive while a session is being opened.
    pub(super) opening: Weak<()>,
    pub(super) leaving: Option<oneshot::Receiver<()>>,
    /// Reason to end the session after the current event.
    pub(super) ending: Option<&'static str>,
    pub(super) outbox: Outbox,
    /// Calls that game masters made here as an NPC, by its name.
    calls: BTreeMap<String, SessionCalls>,
    /// Names of the played campaign's entities, as last looked up.
    entities: Vec<String>,
    /// Tool changes and server states that the game master was notified of.
    pub(super) told_changes: BTreeSet<Vec<String>>,
    pub(super) jobs: JoinSet<Job>,
    pub(super) closing: JoinSet<()>,
    pub(super) panics: Panics,
}

impl Guild {
    pub fn new(id: GuildId, shared: Arc<Shared>) -> Self {
        Self {
            id,
            shared,
            approvals: Approvals::default(),
            settings: KeptSettings::default(),
            session: None,
            interrupted: None,
            opening: Weak::new(),
            leaving: None,
            ending: None,
            outbox: Outbox::default(),
            calls: BTreeMap::new(),
            entities: Vec::new(),
            told_changes: BTreeSet::new(),
            jobs: JoinSet::new(),
            closing: JoinSet::new(),
            panics: Panics::default(),
        }
    }

    /// Fails while the settings are unread: nothing is done until they are.
    pub fn check_settings(&self) -> Result<(), GuildRefusal> {
        match self.settings.unread() {
            Some(why) => Err(why.clone().into()),
            None => Ok(()),
        }
    }

    /// Reason for hearing no player, with the fix, in the running session or the next.
    pub fn cannot_hear(&self) -> Option<String> {
        match &self.session {
            Some(session) => session.cannot_hear.clone(),
            None => self.shared.handles.settings.load().services.cannot_hear(),
        }
    }

    pub fn settings(&self) -> &GuildSettings {
        self.settings.values()
    }

    /// Changes the settings; the user is answered once they are stored.
    pub fn change_settings<T>(&mut self, change: impl FnOnce(&mut GuildSettings) -> T) -> T {
        self.settings.change(change)
    }

    /// Stores the settings; on failure returns the error text for the user.
    pub fn kept(&mut self) -> impl Future<Output = Option<String>> + Send + use<> {
        let settings = self.settings.take_changed();
        let (guilds, guild) = (self.shared.handles.guilds.clone(), self.id.get());
        async move {
            let why = guilds.keep(guild, settings?).await.err()?;
            tracing::error!(guild, %why, "cannot save settings");
            Some(format!("This is lost when I restart, because I can't save it: {why}"))
        }
    }

    pub(super) fn keep_settings(&mut self) {
        let kept = self.kept();
        // A failure to store is logged.
        self.send(async move { _ = kept.await });
    }

    pub fn is_dm(&self, member: &Member, may: Permissions) -> bool {
        access::is_dm(&self.shared.options, self.settings(), member, may)
    }

    /// Describes the game masters to other users.
    pub fn only_dms(&self) -> String {
        match self.settings().dm_role.or(self.shared.options.dm_role) {
            Some(role) => format!("only game masters can do this (members with <@&{role}>)"),
            None => "only game masters can do this: members who may manage the server, until \
                     /setup sets a role"
                .to_owned(),
        }
    }

    pub fn consent(&self) -> Consent {
        self.settings().consent.unwrap_or(self.shared.options.consent)
    }

    /// Fails if none runs.
    pub fn session(&self) -> Result<&GuildSession, GuildRefusal> {
        self.session.as_ref().ok_or(GuildRefusal::NoSession)
    }

    /// Sends a command to the running session's table.
    pub fn tell(&self, command: Command) -> Result<(), GuildRefusal> {
        self.session()?.tell(command)
    }

    /// State of the table after all earlier commands.
    pub fn status(&self) -> Result<BoxFuture<'static, Result<Status, GuildRefusal>>, GuildRefusal> {
        Ok(self.session()?.status())
    }

    pub fn cast(&self) -> Vec<Arc<Npc>> {
        self.shared.handles.settings.load().cast.clone()
    }

    /// True if no other guild is served, as far as the options say; all have the same NPCs.
    pub fn is_only_guild(&self) -> bool {
        let Shared { cache, options, shards, .. } = &*self.shared;
        let mut others = cache.guilds().into_iter().filter(|it| *it != self.id);
        *shards == 1 && others.all(|it| options.serves(it.get()) == Some(false))
    }

    /// The services of the NPCs: of the running table, else the configured ones.
    pub fn services(&self) -> Arc<Services> {
        match &self.session {
            Some(session) => session.engines.services(),
            None => Arc::new(self.shared.handles.settings.load().services.clone()),
        }
    }

    /// Programs outside may read what is said.
    pub fn is_listened_to(&self) -> bool {
        self.shared.handles.outside.listens()
    }

    /// The campaign played here instead of the configured one.
    pub fn played(&self) -> Option<&PlayedCampaign> {
        self.settings().played()
    }

    /// This guild's data in the campaign it plays.
    pub fn scope(&self) -> Scope {
        self.shared.handles.scope(self.owner(), self.played())
    }

    pub fn owner(&self) -> Owner {
        Owner::Guild(self.id.get())
    }

    pub fn tools(&self) -> ToolHost {
        self.shared.handles.tools.within(&self.scope())
    }

    /// `order` for the world played here.
    pub fn asked_of_world(&self, order: WorldOrder) -> WorldRequest {
        WorldRequest { scope: self.scope(), played: self.played().cloned(), order }
    }

    /// Counter for calls that game masters make here as the NPC `npc`.
    pub fn calls_of(&mut self, npc: &str) -> SessionCalls {
        self.calls.entry(npc.to_owned()).or_default().clone()
    }

    pub fn decided_tools(&self) -> ToolDecisions {
        let settings = self.settings();
        ToolDecisions { changes: settings.tools.clone(), permits: settings.permits.clone() }
    }

    /// Resets the limits on calls at the start of a session.
    pub(super) fn recount_calls(&mut self) {
        self.calls.clear();
    }

    /// Names of the played campaign's entities, as last looked up.
    pub fn entities(&self) -> &[String] {
        &self.entities
    }

    /// Stores the entity names in the answer to a world order.
    pub fn take_entities(&mut self, answer: &WorldAnswer) {
        self.entities.clone_from(&answer.names);
    }

    /// Looks up the names of the played campaign's entities.
    pub fn learn_entities(&mut self) {
        self.entities.clear();
        let played = self.played().cloned();
        let world = self.shared.handles.world.clone();
        let request = self.asked_of_world(WorldOrder::Info);
        self.spawn(async move {
            let found = world.carry_out(request).await;
            Box::new(move |guild: &mut Self| {
                // Without them nothing is suggested, but everything can be typed.
                if let Ok(answer) = found
                    && guild.played() == played.as_ref()
                {
                    guild.entities = answer.names;
                }
            }) as Job
        });
    }

    /// Writes the panel soon because something has changed.
    pub fn refresh_panel_soon(&mut self) {
        if let Some(session) = &mut self.session {
            session.panel.refresh_soon();
        }
    }

    /// Adds a note to the panel.
    pub fn note(&mut self, text: impl Into<String>) {
        if let Some(session) = &mut self.session {
            session.panel.note(text.into());
        }
    }

    /// Ends the session, if one runs, after the current event.
    pub(super) fn end_soon(&mut self, why: &'static str) {
        self.ending = Some(why);
    }

    pub fn log_channel(&self) -> Option<ChannelId> {
        self.settings().log_channel.map(ChannelId::new)
    }

    /// Writes to the game master: in the log channel, else in the panel's channel.
    pub(super) fn tell_dm(&mut self, text: String) {
        let panel = || self.session.as_ref().map(|session| session.text_channel);
        if let Some(channel) = self.log_channel().or_else(panel) {
            self.post(channel, ChannelMessage::text(text).message());
        }
    }

    /// Posts `text` in the log channel; without one, notes `instead` on the panel, which everyone
    /// reads.
    pub(super) fn tell_log(&mut self, text: String, instead: &'static str) {
        match self.log_channel() {
            Some(channel) => self.post(channel, ChannelMessage::text(text).message()),
            None => self.note(instead),
        }
    }

    pub(super) fn post(&mut self, channel: ChannelId, message: CreateMessage) {
        let http = Arc::clone(&self.shared.http);
        self.send(async move {
            if let Err(error) = channel.send_message(&http, message).await {
                tracing::warn!(%error, "cannot send a message");
            }
        });
    }

    /// Runs `work` in the background, and its result on this task.
    pub fn spawn(&mut self, work: impl Future<Output = Job> + Send + 'static) {
        self.jobs.spawn(async move {
            match caught(work).await {
                Ok(job) => job,
                Err(fault) => Box::new(move |guild: &mut Self| _ = guild.failed(&fault)) as Job,
            }
        });
    }

    /// Runs `work` in the background.
    pub fn send(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        let guild = self.id.get();
        self.closing.spawn(async move {
            if let Err(fault) = caught(work).await {
                tracing::error!(guild, %fault, "cannot send a message");
            }
        });
    }
}

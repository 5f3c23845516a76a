//! A guild's state, and what commands may ask of it.
//!
//! Entry type: [`Guild`]. Its flows lie beside: who is heard in `attendance`, a session's beginning and
//! end in `lifecycle`, what happens in between in `watching`, what tools want in `requests`.
//! **Never**: waits; what takes time is a [`Job`] whose result comes back here.

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
        Consent, GuildSettings, Handles, PlayedCampaign, Services, ToolDecisions, WorldAnswer,
        WorldOrder, WorldRequest,
    },
    discord::{access, options::Options, ui::message::ChannelMessage},
    domain::{Npc, Owner, Scope},
    panics::{Panics, caught},
    session::{Command, Status},
    tools::{SessionCalls, ToolHost},
};

/// State that all guilds share.
pub struct Shared {
    /// Requests to Discord, answered once.
    pub http: Arc<Http>,
    /// State received from the gateway.
    pub cache: Arc<Cache>,
    /// Voice connections of all guilds.
    pub songbird: Arc<Songbird>,
    /// The program's services.
    pub handles: Handles,
    /// Configuration of the bot.
    pub options: Options,
    /// The bot's own user.
    pub me: UserId,
}

/// Work whose result changes the guild; it runs on the guild's task.
pub type Job = Box<dyn FnOnce(&mut Guild) + Send>;

/// A guild's state; only its task touches it.
pub struct Guild {
    /// Its id at Discord.
    pub id: GuildId,
    /// State that all guilds share.
    pub shared: Arc<Shared>,
    /// Requests of tools that wait for the game master.
    pub approvals: Approvals,
    /// Settings of this guild.
    pub(super) settings: KeptSettings,
    /// The session that runs.
    pub(super) session: Option<GuildSession>,
    /// Held by what opens a session, for as long as it does.
    pub(super) opening: Weak<()>,
    /// Ends when the session before has left its channel and is kept.
    pub(super) leaving: Option<oneshot::Receiver<()>>,
    /// Reason to end the session once the current event is handled.
    pub(super) ending: Option<&'static str>,
    /// Output that waits to be shown.
    pub(super) outbox: Outbox,
    /// Calls of tools that game masters have made here as an NPC, by its name.
    calls: BTreeMap<String, SessionCalls>,
    /// Names of the played campaign's entities, as last looked up.
    entities: Vec<String>,
    /// Changes of tools, and states of servers, that the game master has been notified of.
    pub(super) told_changes: BTreeSet<Vec<String>>,
    /// Work whose result changes the guild.
    pub(super) jobs: JoinSet<Job>,
    /// Work in the background.
    pub(super) closing: JoinSet<()>,
    /// Number of panics here.
    pub(super) panics: Panics,
}

impl Guild {
    /// A guild whose settings are not read yet.
    pub fn new(id: GuildId, shared: Arc<Shared>) -> Self {
        Self {
            id,
            shared,
            approvals: Approvals::default(),
            settings: KeptSettings::default(),
            session: None,
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

    /// Makes sure that it is known what was set here.
    ///
    /// # Errors
    /// It could not be read; nothing is done until it can.
    pub fn check_settings(&self) -> Result<(), GuildRefusal> {
        match self.settings.unread() {
            Some(why) => Err(why.clone().into()),
            None => Ok(()),
        }
    }

    /// Reason for hearing no player, with the fix, in the running session or else in the next.
    pub fn cannot_hear(&self) -> Option<String> {
        match &self.session {
            Some(session) => session.cannot_hear.clone(),
            None => self.shared.handles.settings.load().services.cannot_hear(),
        }
    }

    /// Settings of this guild.
    pub fn settings(&self) -> &GuildSettings {
        self.settings.values()
    }

    /// Changes the settings; the user is answered once they are stored.
    pub fn change_settings<T>(&mut self, change: impl FnOnce(&mut GuildSettings) -> T) -> T {
        self.settings.change(change)
    }

    /// Stores the settings; returns the error text for the user on failure.
    pub fn kept(&mut self) -> impl Future<Output = Option<String>> + Send + use<> {
        let settings = self.settings.take_changed();
        let (guilds, guild) = (self.shared.handles.guilds.clone(), self.id.get());
        async move {
            let why = guilds.keep(guild, settings?).await.err()?;
            tracing::error!(guild, %why, "cannot save settings");
            Some(format!("This is lost when I restart, because I can't save it: {why}"))
        }
    }

    /// Stores the settings in the background.
    pub(super) fn keep_settings(&mut self) {
        let kept = self.kept();
        // A failure to store is logged.
        self.send(async move { _ = kept.await });
    }

    /// True if `member` is a game master here.
    pub fn is_dm(&self, member: &Member, may: Permissions) -> bool {
        access::is_dm(&self.shared.options, self.settings(), member, may)
    }

    /// Text for other users that names the game masters.
    pub fn only_dms(&self) -> String {
        match self.settings().dm_role.or(self.shared.options.dm_role) {
            Some(role) => format!("only game masters can do this (members with <@&{role}>)"),
            None => "only game masters can do this: members who may manage the server, until \
                     /setup sets a role"
                .to_owned(),
        }
    }

    /// The way players agree to be heard.
    pub fn consent(&self) -> Consent {
        self.settings().consent.unwrap_or(self.shared.options.consent)
    }

    /// The session that runs.
    ///
    /// # Errors
    /// None does.
    pub fn session(&self) -> Result<&GuildSession, GuildRefusal> {
        self.session.as_ref().ok_or(GuildRefusal::NoSession)
    }

    /// Tells the table of the session that runs something.
    ///
    /// # Errors
    /// No session runs, or its table does not take it.
    pub fn tell(&self, command: Command) -> Result<(), GuildRefusal> {
        self.session()?.tell(command)
    }

    /// State of the table once it has handled all earlier commands.
    ///
    /// # Errors
    /// No session runs; the future's: the table does not say.
    pub fn status(&self) -> Result<BoxFuture<'static, Result<Status, GuildRefusal>>, GuildRefusal> {
        Ok(self.session()?.status())
    }

    /// The configured NPCs.
    pub fn cast(&self) -> Vec<Arc<Npc>> {
        self.shared.handles.settings.load().cast.clone()
    }

    /// The services of the NPCs: at the table that runs, else of the configured ones.
    pub fn services(&self) -> Arc<Services> {
        match &self.session {
            Some(session) => session.engines.services(),
            None => Arc::new(self.shared.handles.settings.load().services.clone()),
        }
    }

    /// The campaign that is played here in place of the configured one.
    pub fn played(&self) -> Option<&PlayedCampaign> {
        let name = self.settings().campaign.as_ref()?;
        self.settings().campaigns.iter().find(|it| it.name == *name)
    }

    /// Scope of this guild: its data in the campaign that it plays.
    pub fn scope(&self) -> Scope {
        self.shared.handles.scope(self.owner(), self.played())
    }

    /// Owner of the servers and tools here.
    pub fn owner(&self) -> Owner {
        Owner::Guild(self.id.get())
    }

    /// The tools that are there.
    pub fn tools(&self) -> ToolHost {
        self.shared.handles.tools.within(&self.scope())
    }

    /// `order`, of the world that is played here.
    pub fn asked_of_world(&self, order: WorldOrder) -> WorldRequest {
        WorldRequest { scope: self.scope(), played: self.played().cloned(), order }
    }

    /// Counter for calls of tools that game masters make here as the NPC of this name.
    pub fn calls_of(&mut self, npc: &str) -> SessionCalls {
        self.calls.entry(npc.to_owned()).or_default().clone()
    }

    /// Decisions of game masters about tools here.
    pub fn decided_tools(&self) -> ToolDecisions {
        let settings = self.settings();
        ToolDecisions { changes: settings.tools.clone(), permits: settings.permits.clone() }
    }

    /// Resets the limits on calls at the start of a session.
    pub(super) fn recount_calls(&mut self) {
        self.calls.clear();
    }

    /// Names of the entities of the campaign that is played, as far as they were looked up.
    pub fn entities(&self) -> &[String] {
        &self.entities
    }

    /// Takes the names that something done to the campaign's world has led to.
    pub fn take_entities(&mut self, answer: &WorldAnswer) {
        self.entities.clone_from(&answer.names);
    }

    /// Looks up the names of the entities of the campaign that is played; until then none is known.
    pub fn learn_entities(&mut self) {
        self.entities.clear();
        let played = self.played().cloned();
        let world = self.shared.handles.world.clone();
        let request = self.asked_of_world(WorldOrder::Info);
        self.spawn(async move {
            let found = world.carry_out(request).await;
            Box::new(move |guild: &mut Self| {
                // Without them nothing can be chosen, but everything still typed.
                if let Ok(answer) = found
                    && guild.played() == played.as_ref()
                {
                    guild.entities = answer.names;
                }
            }) as Job
        });
    }

    /// Has the panel written soon, for something has changed.
    pub fn refresh_panel_soon(&mut self) {
        if let Some(session) = &mut self.session {
            session.panel.refresh_soon();
        }
    }

    /// Says something on the panel.
    pub fn note(&mut self, text: impl Into<String>) {
        if let Some(session) = &mut self.session {
            session.panel.note(text.into());
        }
    }

    /// The session ends once the event at hand is done with, where one runs.
    pub(super) fn end_soon(&mut self, why: &'static str) {
        self.ending = Some(why);
    }

    /// The log channel, where one is set.
    pub fn log_channel(&self) -> Option<ChannelId> {
        self.settings().log_channel.map(ChannelId::new)
    }

    /// Tells the game master something: in the log channel, else where the session's panel is.
    pub(super) fn tell_dm(&mut self, text: String) {
        let panel = || self.session.as_ref().map(|session| session.text_channel);
        if let Some(channel) = self.log_channel().or_else(panel) {
            self.post(channel, ChannelMessage::text(text).message());
        }
    }

    /// Posts `text` in the log channel; without one, notes `instead` on the panel, which everybody reads.
    pub(super) fn tell_log(&mut self, text: String, instead: &'static str) {
        match self.log_channel() {
            Some(channel) => self.post(channel, ChannelMessage::text(text).message()),
            None => self.note(instead),
        }
    }

    /// Sends a message to a channel.
    pub(super) fn post(&mut self, channel: ChannelId, message: CreateMessage) {
        let http = Arc::clone(&self.shared.http);
        self.send(async move {
            if let Err(error) = channel.send_message(&http, message).await {
                tracing::warn!(%error, "cannot send a message");
            }
        });
    }

    /// Does `work`, and then what it came to, on this task.
    pub fn spawn(&mut self, work: impl Future<Output = Job> + Send + 'static) {
        self.jobs.spawn(async move {
            match caught(work).await {
                Ok(job) => job,
                Err(fault) => Box::new(move |guild: &mut Self| _ = guild.failed(&fault)) as Job,
            }
        });
    }

    /// Does `work` in the background.
    pub fn send(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        let guild = self.id.get();
        self.closing.spawn(async move {
            if let Err(fault) = caught(work).await {
                tracing::error!(guild, %fault, "cannot send a message");
            }
        });
    }
}

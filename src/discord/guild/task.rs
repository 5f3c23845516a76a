//! One guild: its settings, its session, and whoever uses a command in it.
//!
//! Entry function: [`open`]; one task owns the guild, a sender of [`GuildEvent`] is how others
//! reach it. **Never**: waits for Discord; what takes time is a job whose result comes back here.

use std::{future::pending, sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt};
use serenity::{
    all::{ChannelId, GuildId, Interaction, UserId},
    cache::Cache,
    http::Http,
};
use songbird::Songbird;
use tokio::{
    sync::mpsc,
    task::{JoinHandle, JoinSet},
    time::{Instant, MissedTickBehavior, interval, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::discord::{
    access,
    commands::{Refusal, Then},
    guild::decisions::PendingDecisions,
    guild::effects::Ask,
    guild::outbox::Outbox,
    guild::session::{GuildSession, Wanted},
    options::Options,
    ui::reply::Reply,
    voice::VoiceNews,
};
use crate::{
    campaign::{Consent, GuildError, GuildSettings, Handles, PlayedCampaign, Sessions, WorldOrder},
    domain::{Npc, Owner, Scope, SessionId},
    logic::cast::find_npc,
    session::{SeatId, TableEvent},
};

/// Events waiting for a guild; more at once wait in Discord's client.
const EVENT_CAPACITY: usize = 64;
/// Between two looks at how things stand.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Jobs under way are given up after this when the bot stops.
const CLOSE_PATIENCE: Duration = Duration::from_secs(3);
/// Settings that cannot be read are tried again after this.
const REREAD: Duration = Duration::from_secs(10);

/// What reaches a guild.
pub enum GuildEvent {
    /// Somebody used a command, pressed a button or filled in a form.
    Interaction(Box<Interaction>),
    /// Somebody's voice state has changed; the cache has it.
    VoiceStates,
    /// The bot has left its voice channel, or was made to.
    Disconnected,
    /// The bot is not in the guild any more.
    Gone,
}

/// What all guilds share.
pub struct Shared {
    /// Discord's REST.
    pub http: Arc<Http>,
    /// What the gateway has told.
    pub cache: Arc<Cache>,
    /// Voice connections.
    pub songbird: Arc<Songbird>,
    /// The program's services.
    pub handles: Handles,
    /// Settings.
    pub options: Options,
    /// The bot's own user.
    pub me: UserId,
}

/// Work whose result changes the guild.
pub type Job = Box<dyn FnOnce(&mut Guild) + Send>;

/// A guild's state; only its task touches it.
pub struct Guild {
    /// Which.
    pub id: GuildId,
    /// What all guilds share.
    pub shared: Arc<Shared>,
    /// What was set.
    pub settings: GuildSettings,
    /// They are not kept yet.
    changed: bool,
    /// Why the settings could not be read: nothing is done until they can.
    pub broken: Option<String>,
    live: Option<GuildSession>,
    /// What waits for the game master.
    pub desk: PendingDecisions,
    /// What waits to be shown.
    pub outbox: Outbox,
    /// Names of the campaign's entities, as last looked up.
    pub entities: Vec<String>,
    /// A session is being opened.
    opening: bool,
    jobs: JoinSet<Job>,
    closing: JoinSet<()>,
}

/// Starts a guild's task; it ends when `stop` is cancelled.
pub fn open(
    id: GuildId,
    shared: Arc<Shared>,
    stop: CancellationToken,
) -> (mpsc::Sender<GuildEvent>, JoinHandle<()>) {
    let (events, events_in) = mpsc::channel(EVENT_CAPACITY);
    let guild = Guild::new(id, shared);
    (events, tokio::spawn(guild.run(events_in, stop)))
}

/// Everything that can happen.
enum Event {
    Outside(GuildEvent),
    Done(Job),
    Table(Option<TableEvent>),
    Voice(VoiceNews),
    Ask(Ask),
    Look,
    Stop,
}

impl Guild {
    fn new(id: GuildId, shared: Arc<Shared>) -> Self {
        Self {
            id,
            shared,
            settings: GuildSettings::default(),
            changed: false,
            broken: Some("what was set here is not read yet".to_owned()),
            live: None,
            desk: PendingDecisions::default(),
            outbox: Outbox::default(),
            entities: Vec::new(),
            opening: false,
            jobs: JoinSet::new(),
            closing: JoinSet::new(),
        }
    }

    async fn run(mut self, mut events: mpsc::Receiver<GuildEvent>, stop: CancellationToken) {
        let read = self.shared.handles.guilds.clone().read(self.id.get());
        tokio::select! {
            read = read => self.take_settings(read),
            () = stop.cancelled() => return,
        }
        let mut look = interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => Event::Stop,
                Some(event) = events.recv() => Event::Outside(event),
                Some(done) = self.jobs.join_next() => match done {
                    Ok(job) => Event::Done(job),
                    Err(_) => continue,
                },
                event = next(self.live.as_mut()) => event,
                _ = look.tick() => Event::Look,
            };
            match event {
                Event::Outside(GuildEvent::Interaction(interaction)) => {
                    self.interaction(*interaction);
                }
                Event::Outside(GuildEvent::VoiceStates) => self.seat_people(),
                Event::Outside(GuildEvent::Disconnected) => self.disconnected(),
                Event::Outside(GuildEvent::Gone) => break,
                Event::Done(job) => job(&mut self),
                Event::Table(Some(event)) => self.table_event(event),
                Event::Table(None) => _ = self.stop("its table has failed; see the log"),
                Event::Voice(news) => self.voice_news(news),
                Event::Ask(ask) => self.ask(ask),
                Event::Look => self.look(Instant::now()),
                Event::Stop => break,
            }
            while self.closing.try_join_next().is_some() {}
        }
        self.close().await;
    }

    /// Ends what is under way.
    async fn close(mut self) {
        // Without a session there is nothing to close. Nobody waits for a model now.
        if let Ok(live) = self.end("I am being switched off; start me again and use /session start")
        {
            let sessions = self.shared.handles.sessions.clone();
            self.closing.spawn(async move { keep(&sessions, live).await });
        }
        let jobs = async {
            while self.closing.join_next().await.is_some() {}
            while self.jobs.join_next().await.is_some() {}
        };
        // What is not done by then is given up with the sets.
        let _ = tokio::time::timeout(CLOSE_PATIENCE, jobs).await;
    }

    /// The session that runs.
    ///
    /// # Errors
    /// None does.
    pub fn session(&self) -> Result<&GuildSession, Refusal> {
        self.live.as_ref().ok_or_else(|| "no session runs here (start one: /session start)".into())
    }

    /// The session that runs, to be changed.
    pub fn session_mut(&mut self) -> Option<&mut GuildSession> {
        self.live.as_mut()
    }

    /// The NPCs.
    pub fn cast(&self) -> Vec<Arc<Npc>> {
        self.shared.handles.settings.load().cast.clone()
    }

    /// The NPC at the table that `name` means, and its seat.
    ///
    /// # Errors
    /// No session runs, or nobody or several are called so, with the names there are.
    pub fn seat(&self, name: &str) -> Result<(SeatId, &Npc), Refusal> {
        let (seat, npc) = find_npc(&self.session()?.cast, name)?;
        Ok((SeatId(seat), npc))
    }

    /// The campaign that is played here in place of the configured one.
    pub fn played(&self) -> Option<&PlayedCampaign> {
        let name = self.settings.campaign.as_ref()?;
        self.settings.campaigns.iter().find(|it| it.name == *name)
    }

    /// Whose things are meant here: this guild's, of the campaign that it plays.
    pub fn scope(&self) -> Scope {
        self.shared.handles.scope(Owner::Guild(self.id.get()), self.played())
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

    /// How players agree to be heard.
    pub fn consent(&self) -> Consent {
        self.settings.consent.unwrap_or(self.shared.options.consent)
    }

    /// Goes by what was set, or tries again to read it: until then nobody is heard.
    fn take_settings(&mut self, read: Result<GuildSettings, GuildError>) {
        match read {
            Ok(settings) => {
                (self.settings, self.broken) = (settings, None);
                self.add_servers();
                self.learn_entities();
                self.seat_people();
            }
            Err(why) => {
                let why = why.to_string();
                tracing::error!(guild = self.id.get(), why, "settings of a guild cannot be read");
                self.broken = Some(why);
                let again = self.shared.handles.guilds.clone().read(self.id.get());
                self.spawn(async move {
                    sleep(REREAD).await;
                    let read = again.await;
                    Box::new(move |guild: &mut Self| guild.take_settings(read)) as Job
                });
            }
        }
    }

    /// What was set is to be kept; whoever set it is answered when it is.
    pub fn keep(&mut self) {
        self.settings.revision += 1;
        self.changed = true;
    }

    /// Keeps what was set; what to say to whoever set it when it cannot be kept.
    pub fn kept(&mut self) -> impl Future<Output = Option<String>> + Send + use<> {
        let settings = std::mem::take(&mut self.changed).then(|| self.settings.clone());
        let (guilds, guild) = (self.shared.handles.guilds.clone(), self.id.get());
        async move {
            let why = guilds.keep(guild, settings?).await.err()?;
            tracing::error!(guild, %why, "settings are not kept");
            Some(format!("This holds until I am restarted, for I cannot keep it: {why}"))
        }
    }

    /// Does `work`, and then what it came to, on this task.
    pub fn spawn(&mut self, work: impl Future<Output = Job> + Send + 'static) {
        self.jobs.spawn(work);
    }

    /// Does `work` whose result nobody waits for.
    pub fn send(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.closing.spawn(work);
    }

    /// Begins a session in `channel`, else where `user` is; its panel goes to `text`.
    ///
    /// # Errors
    /// What is missing, with the way out.
    pub fn start(
        &mut self,
        user: UserId,
        text: ChannelId,
        channel: Option<ChannelId>,
    ) -> Result<BoxFuture<'static, Then>, Refusal> {
        if let Some(live) = &self.live {
            return Err(format!(
                "a session runs already in <#{}> (end it first: /session stop)",
                live.voice
            )
            .into());
        }
        if self.opening {
            return Err("I am on my way already".into());
        }
        let voice = self.check_channels(user, text, channel)?;
        let session = Sessions::name(self.id.get());
        let after = self.settings.last_session.clone().map(SessionId);
        let tools = self.settings.tools.clone();
        let (played, scope) = (self.played().cloned(), self.scope());
        let wanted = Wanted { guild: self.id, session, after, voice, text, tools, played, scope };
        let sessions = self.shared.handles.sessions.clone();
        let songbird = Arc::clone(&self.shared.songbird);
        self.opening = true;
        let work = async move {
            let opened = GuildSession::open(sessions, songbird, wanted).await;
            Box::new(move |guild: &mut Self| guild.started(opened)) as Then
        };
        Ok(work.boxed())
    }

    /// The voice channel that is meant, once everything is there that is needed.
    fn check_channels(
        &self,
        user: UserId,
        text: ChannelId,
        channel: Option<ChannelId>,
    ) -> Result<ChannelId, Refusal> {
        let shared = &self.shared;
        let guild = shared
            .cache
            .guild(self.id)
            .ok_or("Discord has not told me about this server yet (try again in a few seconds)")?;
        let theirs = guild.voice_states.get(&user).and_then(|it| it.channel_id);
        let voice = channel
            .or(theirs)
            .ok_or("join a voice channel first, or name one (/session start channel)")?;
        let Some(found) = guild.channels.get(&voice) else {
            return Err(format!("I cannot see <#{voice}> (give me View Channel there)").into());
        };
        if let Some(lack) = access::lacks_voice(&guild, found, shared.me) {
            return Err(lack.into());
        }
        if let Some(panel) = guild.channels.get(&text) {
            let lacks = access::lacks_text(&guild, panel, shared.me);
            if !lacks.is_empty() {
                let lacks = lacks.join(", ");
                return Err(format!("I lack {lacks} in <#{text}> (grant it there)").into());
            }
        }
        Ok(voice)
    }

    fn started(&mut self, opened: Result<GuildSession, String>) -> Reply {
        self.opening = false;
        match opened {
            Ok(live) => {
                let text = format!("I listen in <#{}>.", live.voice);
                self.settings.last_session = Some(live.session.0.clone());
                self.keep();
                self.live = Some(live);
                self.seat_people();
                Reply::private(text)
            }
            Err(why) => Reply::private(why),
        }
    }

    /// Ends the session; the channel is left in the background, and then what was said is gone
    /// through for what is worth keeping.
    ///
    /// # Errors
    /// None runs.
    pub fn stop(&mut self, why: &str) -> Result<(), Refusal> {
        let live = self.end(why)?;
        let (handles, panel) = (self.shared.handles.clone(), live.text);
        self.spawn(async move {
            let consolidated = handles.recaps.consolidate(&live.session);
            keep(&handles.sessions, live).await;
            let found = consolidated.await;
            Box::new(move |guild: &mut Self| guild.propose(panel, found)) as Job
        });
        Ok(())
    }

    /// Takes the session away from the guild; it is still to be closed and kept.
    fn end(&mut self, why: &str) -> Result<GuildSession, Refusal> {
        self.send_shown();
        self.clear_desk();
        let mut live =
            self.live.take().ok_or("no session runs here (start one: /session start)")?;
        tracing::info!(guild = self.id.get(), why, "session ended");
        let panel = (live.text, std::mem::take(&mut live.panel));
        self.close_panel(panel, why);
        Ok(live)
    }
}

/// Closes a session and keeps what is worth keeping.
async fn keep(sessions: &Sessions, live: GuildSession) {
    let (session, kept) = live.close().await;
    if let Err(why) = sessions.keep(&session, kept).await {
        tracing::error!(%why, "a session was not kept");
    }
}

/// What the session that runs has to say; nothing for ever where none does.
async fn next(live: Option<&mut GuildSession>) -> Event {
    let Some(live) = live else { return pending().await };
    tokio::select! {
        event = live.events.recv() => Event::Table(event),
        Some(news) = live.link.news.recv() => Event::Voice(news),
        Some(ask) = live.asks.recv() => Event::Ask(ask),
    }
}

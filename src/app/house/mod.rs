//! The program as the Discord bot sees it: tables opened from the configuration there is now.
//!
//! Entry type: [`Residence`]. **Never**: knows Discord's types.

mod aside;
mod consolidating;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::UNIX_EPOCH,
};

use arc_swap::ArcSwap;
use futures::{FutureExt, StreamExt, future::BoxFuture};
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;

use self::aside::Aside;
use super::{
    Assistant, AssistantSetup, IDENTITIES, OpenTables, TableSetup, Tools, campaign_key,
    for_session, open_table, recogniser,
};
use crate::{
    audio::Frame,
    campaign::{
        self, AddedServer, CallLog, Fact, FactId, ForgetFrom, ForgetRequest, GuildSettings,
        GuildStore, KeptSession, PlayedCampaign, Tables, Transcript, TranscriptWriter, Verdict,
        WaitingFacts, WantedFacts, WorldAnswer, WorldOf, WorldOrder, carry_out, wall_clock,
    },
    config::{self, Config},
    discord::{House, Opened, Opening, Wish, Written},
    domain::{Campaign, Npc, SessionId, Voice},
    engine::{Purse, Shaping},
    logic::{
        dice::{DiceError, Outcome},
        spoken::read_dice,
    },
    memory::{self, MemoryStore},
    provider::{Error, Services, SpeakRequest, SpeechToText, VoiceService},
    session::{Command, Kept, TurnLine},
    tools::{
        self, Effects, Report, ToolHost,
        connection::{ServerOptions, Servers},
    },
};

/// The voice of announcements: nobody's, and free.
const ANNOUNCER: &str = "slt";

/// Everything tables are opened from. Cloning shares it.
#[derive(Clone)]
pub struct Residence {
    config: Arc<ArcSwap<Config>>,
    tools: Arc<Tools>,
    tables: Tables,
    running: OpenTables,
    open: Arc<Mutex<HashMap<SessionId, Books>>>,
    /// Pays what is asked outside sessions.
    aside: Aside,
    dice: Arc<Mutex<StdRng>>,
    scribe: TranscriptWriter,
    store: Arc<dyn MemoryStore>,
    guilds: GuildStore,
    /// Held while a fact is decided: of two verdicts the second finds it decided.
    deciding: Arc<tokio::sync::Mutex<()>>,
}

/// What is kept of a session while it runs.
struct Books {
    purse: Purse,
    calls: CallLog,
    written: Transcript,
    commands: mpsc::WeakSender<Command>,
    /// As its table has it.
    config: Arc<Config>,
}

impl Residence {
    /// Opens tables from `config` as it is then; they are put into `tables`.
    pub fn new(
        config: Arc<ArcSwap<Config>>,
        tools: Arc<Tools>,
        (tables, running): (Tables, OpenTables),
        scribe: TranscriptWriter,
    ) -> Self {
        let aside = Aside::new(&config.load());
        let dice = Arc::new(Mutex::new(StdRng::seed_from_u64(rand::random())));
        let (store, open) = (scribe.store(), Arc::default());
        let guilds = GuildStore::new(Arc::clone(&store), &config.load().discord.folder);
        let deciding = Arc::default();
        Self { config, tools, tables, running, open, aside, dice, scribe, store, guilds, deciding }
    }

    /// Held for a line at most, never across an await.
    fn books(&self) -> MutexGuard<'_, HashMap<SessionId, Books>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The configuration as a session of `campaign` plays it. Without its store, names of files are
    /// known.
    async fn config_for(&self, campaign: Option<&PlayedCampaign>) -> Config {
        let config = self.config.load_full();
        for_session(&config, &*self.scribe.store(), campaign).await.unwrap_or_else(|error| {
            tracing::error!(%error, "only names of files are known");
            (*config).clone()
        })
    }

    fn open_now(
        &self,
        opening: Opening,
        config: Config,
        stt: Arc<dyn SpeechToText>,
    ) -> anyhow::Result<Opened> {
        let kept = match &opening.after {
            Some(before) => KeptSession::open(&config.data_dir, &before.0)?,
            None => KeptSession::unkept(),
        };
        let setup = TableSetup {
            session: opening.session.clone(),
            histories: kept.histories(),
            spent: 0.0,
            services: self.tools.services.clone(),
            stt,
            out: opening.out,
            pace: opening.pace,
            host: self.tools.host.at(&opening.session),
            effects: opening.effects,
            events: opening.events.clone(),
            backlog: self.scribe.backlog(),
            memory: Some(self.scribe.store()),
            seed: rand::random(),
        };
        let id = &opening.session.0;
        let calls = KeptSession::open(&config.data_dir, id)?.call_log().unwrap_or_default();
        let calls = CallLog::open(calls, id)?;
        let table = open_table(&config, setup)?;
        self.tools.host.catalog().set_changes(&opening.session, opening.tools);
        self.running.add(&table);
        self.tables.add(&opening.events);
        let written = Transcript {
            campaign: campaign_key(&config),
            session: opening.session.0.clone(),
            guild: Some(opening.guild),
        };
        self.tools.archive.set_campaign(&opening.session, Some(written.campaign.clone()));
        self.scribe.begins(&written);
        let commands = table.handle.commands.downgrade();
        let cast = config.npcs.iter().cloned().map(Arc::new).collect();
        let config = Arc::new(config);
        let books = Books { purse: table.purse, calls, written, commands, config };
        self.books().insert(opening.session, books);
        Ok(Opened { handle: table.handle, task: table.task, cast })
    }
}

impl Residence {
    /// Whether everything said so far is in the store.
    async fn caught_up(&self) -> Result<(), String> {
        self.scribe.settled().await;
        match self.scribe.backlog().count().waiting {
            0 => Ok(()),
            _ => Err("not everything is written down yet (try again in a minute)".to_owned()),
        }
    }

    /// Forgets in the tables that run; the sessions whose calls are being logged.
    fn forget_at_tables(&self, names: &[String], from: &ForgetFrom) -> BTreeSet<String> {
        let mut books = self.books();
        for (session, books) in books.iter_mut() {
            let is_meant = match from {
                ForgetFrom::Everywhere => true,
                ForgetFrom::Guild(guild) => books.written.guild == Some(*guild),
                ForgetFrom::Session(meant) => meant == session,
            };
            if !is_meant {
                continue;
            }
            if let Err(error) = books.calls.forget(names) {
                tracing::error!(error = format!("{error:#}"), "tool calls are not forgotten");
            }
            let table = books.commands.upgrade();
            if let Some(Err(error)) =
                table.map(|table| table.try_send(Command::Erase(names.to_vec())))
            {
                tracing::error!(%error, "a table does not forget");
            }
        }
        books.keys().map(|session| session.0.clone()).collect()
    }

    async fn forget_person(self, what: ForgetRequest) -> Result<u64, String> {
        self.caught_up().await?;
        let said = |error: memory::Error| error.to_string();
        let player = what.user.to_string();
        let mut names = campaign::names(&*self.store, &player).await.map_err(said)?;
        names.extend(what.names);
        let names: Vec<String> = names.into_iter().collect();
        let open = self.forget_at_tables(&names, &what.from);
        let (folder, from) = (self.config.load().data_dir.clone(), what.from.clone());
        let files = tokio::task::spawn_blocking(move || {
            campaign::forget_kept(&folder, &names, &from, |id| open.contains(id))
        });
        let files = files.await.map_err(|lost| lost.to_string())?;
        files.map_err(|error| format!("{error:#}"))?;
        campaign::forget(&*self.store, &player, &what.from).await.map_err(said)
    }
}

impl House for Residence {
    fn name_session(&self, guild: u64) -> SessionId {
        let since = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
        SessionId(format!("discord-{guild}-{}", since.as_secs()))
    }

    fn settings(&self, guild: u64) -> BoxFuture<'static, Result<GuildSettings, String>> {
        self.guilds.clone().read(guild).boxed()
    }

    fn keep_settings(
        &self,
        guild: u64,
        settings: GuildSettings,
    ) -> BoxFuture<'static, Result<(), String>> {
        self.guilds.clone().keep(guild, settings).boxed()
    }

    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<Opened, String>> {
        let house = self.clone();
        async move {
            let deaf = |error: Error| format!("I cannot hear: {error}");
            let config = house.config_for(opening.campaign.as_ref()).await;
            let stt = recogniser(&house.tools.services, &config).map_err(deaf)?;
            stt.ready().await.map_err(deaf)?;
            house.open_now(opening, config, stt).map_err(|error| format!("{error:#}"))
        }
        .boxed()
    }

    fn record(&self, session: &SessionId, line: &TurnLine) {
        if let Some(books) = self.books().get_mut(session) {
            if let Err(error) = books.calls.add(line) {
                tracing::error!(error = format!("{error:#}"), "tool calls are not logged");
            }
            self.scribe.line(&books.written, line);
        }
    }

    fn take_back(&self, session: &SessionId, turns: &[u64]) {
        if let Some(books) = self.books().get_mut(session) {
            if let Err(error) = books.calls.take_back(turns) {
                tracing::error!(error = format!("{error:#}"), "tool calls are not taken back");
            }
            self.scribe.take_back(&books.written, turns);
        }
    }

    fn keep(&self, session: &SessionId, kept: Kept) -> BoxFuture<'static, Result<(), String>> {
        let books = self.books().remove(session);
        self.tools.archive.set_campaign(session, None);
        if let Some(books) = &books {
            self.scribe.ends(&books.written);
        }
        self.tools.host.catalog().set_changes(session, BTreeMap::new());
        let (folder, id): (PathBuf, String) =
            (self.config.load().data_dir.clone(), session.0.clone());
        async move {
            let save = move || {
                KeptSession::open(&folder, &id)?.save(
                    kept.histories.into_iter().collect(),
                    books.map_or(0.0, |books| books.purse.spent()),
                )
            };
            match tokio::task::spawn_blocking(save).await {
                Ok(saved) => saved.map_err(|error| format!("{error:#}")),
                Err(lost) => Err(lost.to_string()),
            }
        }
        .boxed()
    }

    fn own_lines(&self, user: u64) -> BoxFuture<'static, Result<String, String>> {
        let house = self.clone();
        async move {
            house.caught_up().await?;
            let lines = campaign::own_lines(&*house.store, &user.to_string()).await;
            lines.map_err(|error| error.to_string())
        }
        .boxed()
    }

    fn forget(&self, what: ForgetRequest) -> BoxFuture<'static, Result<u64, String>> {
        self.clone().forget_person(what).boxed()
    }

    fn recap(&self, wish: Wish) -> BoxFuture<'static, Result<String, String>> {
        self.clone().retell(wish).boxed()
    }

    fn consolidate(&self, session: &SessionId) -> BoxFuture<'static, Result<Vec<Fact>, String>> {
        self.consolidated(session)
    }

    fn waiting(&self, wanted: WantedFacts) -> BoxFuture<'static, Result<WaitingFacts, String>> {
        self.clone().waiting_facts(wanted).boxed()
    }

    fn fact(&self, id: FactId) -> BoxFuture<'static, Result<Fact, String>> {
        let store = Arc::clone(&self.store);
        async move { campaign::fact(&*store, id).await }.boxed()
    }

    fn decide(
        &self,
        id: FactId,
        verdict: Verdict,
    ) -> BoxFuture<'static, Result<(Fact, bool), String>> {
        self.clone().settled(id, verdict).boxed()
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        self.config.load().npcs.iter().cloned().map(Arc::new).collect()
    }

    fn roll(&self, text: &str) -> Result<Outcome, DiceError> {
        let expression = read_dice(text)?;
        expression.roll(&mut *self.dice.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn campaign(&self) -> Arc<Campaign> {
        Arc::new(self.config.load().campaign.clone())
    }

    fn world(
        &self,
        played: Option<PlayedCampaign>,
        order: WorldOrder,
    ) -> BoxFuture<'static, Result<WorldAnswer, String>> {
        let (config, store) = (self.config.load_full(), self.scribe.store());
        async move {
            let (campaign, cast) = (&config.campaign, &*config.npcs);
            carry_out(WorldOf { store: &*store, campaign, cast }, played, order).await
        }
        .boxed()
    }

    fn tools(&self) -> &ToolHost {
        &self.tools.host
    }

    fn servers(&self) -> &Servers {
        &self.tools.servers
    }

    fn services(&self) -> Services {
        let config = self.config.load();
        config.services.describe(config.npcs.iter().map(|npc| &npc.voice))
    }

    fn session_cap(&self) -> Option<f64> {
        self.config.load().budget.session_max
    }

    fn ask(
        &self,
        session: Option<&SessionId>,
        text: String,
        effects: Arc<dyn Effects>,
    ) -> BoxFuture<'static, Result<Written, String>> {
        let own = session.and_then(|session| {
            let books = self.books();
            let books = books.get(session)?;
            Some((books.purse.clone(), Arc::clone(&books.config)))
        });
        let (purse, config) = own.unwrap_or_else(|| {
            let config = self.config.load_full();
            (self.aside.purse(&config), config)
        });
        let session = session.cloned().unwrap_or_else(|| SessionId("operator".to_owned()));
        let host = self.tools.host.at(&session);
        let setup = AssistantSetup { session, purse, host, effects, seed: rand::random() };
        let opened = Assistant::open(&config, &self.tools.services, setup);
        async move {
            let assistant = opened.map_err(|error| error.to_string())?;
            let answer = assistant.ask(&text).await;
            let answer =
                answer.map_err(|why| format!("{} has no answer: {why}", assistant.name()))?;
            let tools = answer.tools.into_iter().map(|line| line.tool).collect();
            Ok(Written { text: answer.text, tools })
        }
        .boxed()
    }

    fn server(&self, name: &str, added: &AddedServer) -> Result<ServerOptions, String> {
        let config = self.config.load();
        let mut described = serde_json::json!({ "name": name });
        let given = [("command", &added.command), ("url", &added.url)];
        for (key, value) in
            given.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)))
        {
            described[key] = value.as_str().into();
        }
        if let Some(token) = &added.token {
            described["auth"] = serde_json::json!({ "token": token });
        }
        let manifests = config.manifests.iter();
        let manifests: Vec<String> =
            manifests.map(|it| tools::identity(&it.namespace, &it.name)).collect();
        let options = config::server(&described, IDENTITIES, &manifests)?;
        if config::is_near(&options) && !config.discord.trust_dms {
            return Err(
                "programs on my machine, and addresses of its network, are not started or \
                        reached from Discord (whoever runs me can allow it: discord.trust_dms in \
                        glyphoxa.yaml; or give a public https:// address)"
                    .to_owned(),
            );
        }
        Ok(options)
    }

    fn figures(&self) -> Report {
        let config = self.config.load();
        tools::report(&config.data_dir, &config.environment)
    }

    fn announce(&self, text: String) -> BoxFuture<'static, Result<Vec<Frame>, String>> {
        let house = self.clone();
        async move { house.announcement(text).await.map_err(|error| error.to_string()) }.boxed()
    }
}

impl Residence {
    /// `text` as frames: 48 kHz.
    async fn announcement(&self, text: String) -> Result<Vec<Frame>, Error> {
        let voice = Voice {
            provider: VoiceService::Flite.name().to_owned(),
            voice_id: ANNOUNCER.to_owned(),
            pitch_shift: 0.0,
            speed_factor: 1.0,
            volume: 1.0,
        };
        let service = self.tools.services.voice(&self.config.load().services, &voice)?;
        let mut chunks = service.speak(SpeakRequest {
            text,
            voice,
            language: "en".to_owned(),
            pronunciation: Arc::from([]),
        });
        let (mut frames, mut shaping) = (Vec::new(), Shaping::new(1.0));
        while let Some(chunk) = chunks.next().await {
            frames.extend(shaping.push(&chunk?)?);
        }
        frames.extend(shaping.finish());
        Ok(frames)
    }
}

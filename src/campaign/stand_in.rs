//! Test services for callers of this room.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use rand::{SeedableRng, rngs::StdRng};

use super::{
    Accounts, AddedServer, Announcer, ApprovalOptions, AssistantSettings, ChangeError, EngineOffer,
    Engines, Factory, GuildStore, HandleParts, Handles, ImportSettings, MadeTable, ModelMaker,
    OpenError, ScheduleOptions, ServerError, Settings, TableRequest, Tables, TranscriptOptions,
    TranscriptWriter, VoiceLister,
};
use crate::{
    audio::Frame,
    domain::{Campaign, EngineKind, Npc, SessionId},
    engine::{
        Budget, Synthesizer,
        tests::props::{Model, hum},
    },
    logic::budget::BudgetOptions,
    memory::{MemoryStore, Sqlite},
    provider::{Chain, Error, ServiceInfo, Services},
    session::VoiceOut,
    tools::{
        ToolHost,
        builtin::Music,
        connection::{ServerOptions, Servers, Setup},
    },
};

/// Settings of an NPC and the assistant; data lies in `folder`.
pub fn settings(folder: &Path) -> Settings {
    let npc = Arc::new(Npc::plain("Assistant"));
    let info = || ServiceInfo::here("none");
    Settings {
        approvals: ApprovalOptions::default(),
        campaign: Arc::new(Campaign::default()),
        worlds: Default::default(),
        shared: Vec::new(),
        cast: vec![Arc::new(Npc::plain("Bartok"))],
        assistant: AssistantSettings {
            npc,
            model: ModelMaker::new(|_| Ok(Chain::of("stand-in", Arc::new(Model::default())))),
            campaign: Arc::new(Campaign::default()),
            max_tokens: 100,
            filler_after: Duration::from_secs(1),
        },
        budget: BudgetOptions::default(),
        consolidate: false,
        data_dir: folder.to_owned(),
        environment: "test".to_owned(),
        services: Services {
            hears: vec![info()],
            here: None,
            thinks: vec![info()],
            sums_up: false,
            speaks: Vec::new(),
            speaks_and_hears: Vec::new(),
            compares: None,
            draws: None,
            searches: None,
            programs: None,
            collector: None,
        },
        imports: ImportSettings {
            npc_dir: folder.join("npcs"),
            language: "en".to_owned(),
            voices: VoiceLister::new(Vec::new),
        },
        workflows: Arc::default(),
        schedules: ScheduleOptions { zone: jiff::tz::TimeZone::UTC, catch_up: false },
    }
}

/// Engines that never change, with their services.
pub struct NoEngines(pub Arc<Services>);

impl Engines for NoEngines {
    fn services(&self) -> Arc<Services> {
        Arc::clone(&self.0)
    }

    fn announced(&self, _: &BTreeSet<String>) {}

    fn offer(&self, _: &str, _: EngineKind) -> Result<EngineOffer, ChangeError> {
        Err(ChangeError::NoService)
    }

    fn change(&self, _: &str, _: EngineKind) -> Result<(), ChangeError> {
        Err(ChangeError::NoService)
    }
}

/// Drops all sound.
pub struct Nowhere;

impl VoiceOut for Nowhere {
    fn play(&mut self, _: &str, _: Frame) {}

    fn ramp(&mut self, _: f32, _: Duration) {}

    fn stop(&mut self) -> usize {
        0
    }
}

/// Panics whenever a table is wanted.
struct NoTables;

impl Factory for NoTables {
    fn table(&self, _: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        Box::pin(async { panic!("no table today") })
    }

    fn closed(&self, _: &SessionId) {}

    fn server(&self, _: &str, _: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::TooNear)
    }

    fn voice(&self, _: &Arc<Npc>, _: Budget) -> Result<Synthesizer, Error> {
        panic!("no NPC speaks here")
    }
}

/// A table that was wanted: its session, the one it continues, and when it began if it was
/// interrupted.
pub type WantedTable = (SessionId, Option<SessionId>, Option<i64>);

/// Refuses each table, and records that it was wanted.
struct RefusedTables(Arc<Mutex<Vec<WantedTable>>>);

impl Factory for RefusedTables {
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let TableRequest { session, after, began, .. } = wanted;
        self.0.lock().unwrap().push((session, after, began));
        Box::pin(async { Err(OpenError::Voice("Bartok".to_owned())) })
    }

    fn closed(&self, _: &SessionId) {}

    fn server(&self, _: &str, _: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::TooNear)
    }

    fn voice(&self, _: &Arc<Npc>, _: Budget) -> Result<Synthesizer, Error> {
        panic!("no NPC speaks here")
    }
}

/// Handles that refuse each table, which is then in `wanted`; their store lies in `folder`.
pub fn handles_that_refuse(folder: &Path, wanted: &Arc<Mutex<Vec<WantedTable>>>) -> Handles {
    handles(folder, Arc::new(RefusedTables(Arc::clone(wanted))))
}

/// Handles that open no tables; their store lies in `folder`.
pub fn handles_without_tables(folder: &Path) -> Handles {
    handles(folder, Arc::new(NoTables))
}

/// Handles whose tables `factory` makes; their store lies in `folder`.
pub fn handles(folder: &Path, factory: Arc<dyn Factory>) -> Handles {
    handles_over(folder, factory, Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap()))
}

/// Handles over `store`; all else of them lies in `folder`.
pub fn handles_over(
    folder: &Path,
    factory: Arc<dyn Factory>,
    store: Arc<dyn MemoryStore>,
) -> Handles {
    let spilled = TranscriptOptions { spill: folder.join("waiting"), ..Default::default() };
    let tools = ToolHost::new(StdRng::seed_from_u64(1));
    let servers = Servers::new(Setup {
        host: tools.clone(),
        data_dir: folder.to_owned(),
        environment: Vec::new(),
        launcher: "nothing is started".into(),
        hidden: Vec::new(),
        facts: Arc::default(),
        seed: 1,
    });
    Handles::new(HandleParts {
        settings: Arc::new(ArcSwap::from_pointee(settings(folder))),
        factory,
        transcripts: TranscriptWriter::open(Arc::clone(&store), Tables::default(), &spilled),
        accounts: Accounts::new(None),
        tables: Tables::default(),
        guilds: GuildStore::new(store, folder),
        tools,
        servers,
        announcer: Announcer::new(hum(), Npc::plain("nobody").voice),
        music: Music::new(Arc::default(), StdRng::seed_from_u64(1)),
    })
}

/// Settings of guilds, stored in `folder`.
pub fn guild_store(folder: &Path) -> GuildStore {
    GuildStore::new(Arc::new(Sqlite::open(&folder.join("memory.db")).unwrap()), folder)
}

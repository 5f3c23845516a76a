//! Wiring: checked options -> a running table. Entry function: [`open_table`]. **Never**:
//! interprets a value; `config` has done that.

mod changes;
mod engines;
mod factory;
mod hearing;
mod memory;
mod music;
#[cfg(test)]
mod people;
mod reload;
mod seats;
mod servers;
mod settings;
mod telemetry;
mod voice_check;
mod voice_lists;
mod voice_offers;
mod voices;
mod world;

use std::{collections::BTreeMap, sync::Arc};

pub use factory::{FactoryParts, TableFactory};
pub use hearing::{TableRecogniser, table_recogniser, turn_judge};
pub use memory::{accounts, campaign_key, local_scope, nodes, open_memory, world_of};
pub use reload::{Running, follow};
pub use seats::{OpenTables, SeatedTable};
pub use servers::Playing;
pub use settings::{LiveConfig, assistant, bot_options};
pub use voice_check::{DoubtfulVoice, doubtful_voices};
pub use voice_lists::VoiceLists;
pub use voice_offers::voice_offers;
pub use world::{for_session, seeded_for_session, with_names};

pub use crate::logic::cast::find_npc;

use futures::StreamExt;
use rand::{SeedableRng, rngs::StdRng};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::{music::Levelling, seats::SeatMaker, telemetry::Telemetry, voices::KeptLevels};
use crate::{
    campaign::{Indexed, Indexer, RunsSlot, TranscriptWriter, now, offered_workflows},
    config::{self, Config},
    domain::{Message, Npc, Scope, Voice},
    engine::{Budget, VoiceLevels},
    logic::tier::Names,
    memory::MemoryStore,
    provider::{Attempts, Error, Pages, Registry, SpeakRequest, TextToSpeech},
    session::{self, Continuation, Conversations, TableHandle, TableParts, TableSetup},
    tools::{
        SourceKind, ToolHost,
        builtin::{
            self, Archive, Dice, Images, Materials, Meaning, Music, RuleBook, SeenAddresses,
            WebAccess,
        },
        connection::{Facts, Servers},
        manifest,
    },
};

pub struct Resumed {
    /// By NPC.
    pub histories: BTreeMap<String, Vec<Message>>,
    /// State at its end; `None`: it begins where the campaign does.
    pub continuation: Option<Continuation>,
    pub budget: Budget,
}

/// Tools that NPCs may be given.
pub const IDENTITIES: &[&str] = builtin::IDENTITIES;

/// A running table.
pub struct OpenTable {
    pub handle: TableHandle,
    /// Ends after the handle is dropped or closed.
    pub task: JoinHandle<Conversations>,
    pub budget: Budget,
    /// Builds its seats again.
    pub seats: SeatMaker,
}

/// Tools and services of a program run, shared by its tables.
pub struct Tools {
    pub host: ToolHost,
    /// MCP servers, which connect in the background.
    pub servers: Servers,
    /// Values that headers refer to.
    facts: Arc<Facts>,
    /// Services that hear, think and speak.
    pub services: Registry,
    /// Loudness of voices.
    voices: KeptLevels,
    /// Voices to choose from.
    pub lists: VoiceLists,
    stop: CancellationToken,
    tending: JoinHandle<()>,
    /// Shared state of the built-in tools.
    offered: Offered,
    /// Searches by meaning.
    meaning: Meaning,
    /// Traces of turns.
    telemetry: Telemetry,
}

/// Opens the tools for `playing`, over `memory`; without it the first call opens the store. `seed`
/// is for dice. Servers connect in the background.
pub fn open_tools(
    config: &Config,
    playing: Playing<'_>,
    seed: u64,
    memory: Option<Arc<dyn MemoryStore>>,
) -> Result<Tools, Error> {
    let services = Registry::default();
    let embedder = services.embedder(&config.services)?;
    services.painter(&config.services)?;
    services.search(&config.services)?;
    let host = ToolHost::new(StdRng::seed_from_u64(seed)).within(&local_scope(config));
    host.catalog().figures().open(&config.data_dir, &config.environment);
    host.set_approval_expiry(config.approvals.expires);
    host.catalog().set_cast(&callers(config));
    let dice = Dice::new(StdRng::seed_from_u64(seed.wrapping_add(1)));
    let meaning = memory::meaning(config.services.embedder.as_ref(), embedder.as_ref());
    let archive = memory::archive(config, memory, meaning.clone());
    let levelling = Levelling::new(config, StdRng::seed_from_u64(seed.wrapping_add(3)));
    let (seen, workflows) = (SeenAddresses::default(), RunsSlot::default());
    let offered = Offered { dice, archive, levelling, seen, workflows };
    offered.offer(&host, &services, config, rule_book(config));
    manifest::offer(&host, &config.manifests);
    offered.offer_workflows(&host, config);
    host.select_by(config.selection.clone(), embedder);
    let stop = CancellationToken::new();
    let (tended, until) = (host.clone(), stop.clone());
    let tending = tokio::spawn(async move { tended.tend(until).await });
    let opened = servers::open(config, playing, &host, seed.wrapping_add(2));
    let servers::Opened { servers, facts } = opened;
    let voices = KeptLevels::open(&config.data_dir);
    let lists = VoiceLists::open(&config.data_dir);
    let telemetry = Telemetry::open(config.telemetry.as_ref());
    Ok(Tools {
        host,
        servers,
        facts,
        services,
        voices,
        lists,
        stop,
        tending,
        offered,
        meaning,
        telemetry,
    })
}

/// State of the built-in tools that survives a change of their data.
struct Offered {
    dice: Dice,
    archive: Arc<Archive>,
    levelling: Levelling,
    /// Addresses that searches have returned.
    seen: SeenAddresses,
    /// Runs the workflows that NPCs call.
    workflows: RunsSlot,
}

impl Offered {
    /// Offers the built-in tools with the data of `config`.
    fn offer(&self, host: &ToolHost, services: &Registry, config: &Config, rules: Arc<RuleBook>) {
        let (tables, files) = (config.tables.clone(), config.file_io.clone());
        let (dice, memory) = (self.dice.clone(), Some(Arc::clone(&self.archive)));
        let music = Some(self.levelling.music.clone());
        let (images, search) = (images(services, config), self.web(services, config));
        let materials = Materials { dice, tables, rules, files, memory, music, images, search };
        builtin::offer(host, materials);
    }

    /// Offers the workflows of `config`; after the tools they call, whose times are theirs too.
    fn offer_workflows(&self, host: &ToolHost, config: &Config) {
        let tools = offered_workflows(&config.workflows, &host.snapshot(), &self.workflows);
        for refused in host.offer(builtin::WORKFLOWS, SourceKind::BuiltIn, tools) {
            tracing::error!(tool = refused.tool, reason = refused.reason, "workflow left out");
        }
    }

    fn web(&self, services: &Registry, config: &Config) -> Option<WebAccess> {
        let service = services.search(&config.services).unwrap_or_else(|error| {
            tracing::error!(%error, "no web search until providers.search is fixed");
            None
        })?;
        let search = config.services.search.as_ref()?;
        let pages = Pages::new(search.allow.iter().cloned().collect(), &search.language);
        Some(WebAccess { service, pages, seen: self.seen.clone() })
    }
}

fn images(services: &Registry, config: &Config) -> Option<Images> {
    let painter = services.painter(&config.services).unwrap_or_else(|error| {
        tracing::error!(%error, "no pictures until providers.image is fixed");
        None
    });
    painter.map(|painter| Images::new(painter, config.campaign.lines_and_veils.clone()))
}

/// The rules of `config`; the built-in ones are read when an NPC that may look them up prepares to
/// answer.
fn rule_book(config: &Config) -> Arc<RuleBook> {
    let own = &config.rules;
    let rules = RuleBook::new(own.own.clone(), own.edition.clone(), config::shipped_rules);
    Arc::new(rules)
}

/// All NPCs, and the assistant.
fn callers(config: &Config) -> Vec<Arc<Npc>> {
    config.npcs.iter().chain([&config.assistant]).cloned().map(Arc::new).collect()
}

impl Tools {
    /// Indexes transcripts until closed: of the scope `only`, or of all that this process serves.
    pub fn index(&self, only: Option<Scope>, transcripts: &TranscriptWriter) -> Indexer {
        let (store, written) = (transcripts.store(), transcripts.written());
        let scopes =
            only.map_or_else(|| Indexed::Served(transcripts.served().clone()), Indexed::Only);
        Indexer::open(store, scopes, self.meaning.clone(), written, now)
    }

    /// Opens the memory now, so that the time of a call does not include it.
    pub async fn open_archive(&self) {
        self.offered.archive.open().await;
    }

    /// The tracks, levelled as far as measured.
    pub fn music(&self) -> Music {
        self.offered.levelling.music.clone()
    }

    /// Where workflows that NPCs call find the service that runs them.
    pub fn runs_slot(&self) -> &RunsSlot {
        &self.offered.workflows
    }

    pub const fn voice_levels(&self) -> &VoiceLevels {
        &self.voices.levels
    }

    /// Measures the music of `config` in the background.
    pub async fn level_music(&self, config: &Config) {
        self.offered.levelling.begin(Arc::clone(&config.music)).await;
    }

    /// Stops everything in progress. Cancel safe.
    pub async fn close(self) {
        self.stop.cancel();
        self.offered.levelling.end().await;
        self.host.close().await;
        self.servers.close().await;
        if let Err(error) = self.host.keep_figures() {
            tracing::warn!(%error, "measured figures of tools could not be saved");
        }
        self.voices.keep();
        // It ends at its next check of the token.
        let _ = self.tending.await;
        self.telemetry.close().await;
    }
}

/// Builds a table and starts its task, with the services and music of `tools`; without `memory`
/// nothing is recalled. Fails on an invalid address or key of a service.
pub fn open_table(
    config: &Config,
    tools: &Tools,
    memory: Option<Arc<dyn MemoryStore>>,
    resumed: Resumed,
    setup: TableSetup,
) -> Result<OpenTable, Error> {
    let campaign = Arc::new(config.campaign.clone());
    let Resumed { mut histories, continuation, budget } = resumed;
    let scope = setup.host.scope().clone();
    let (services, levels) = (tools.services.clone(), tools.voice_levels());
    let maker = SeatMaker::new(services, levels, &setup.host, &budget, setup.seed);
    let seats = config
        .npcs
        .iter()
        .map(|npc| {
            let history = histories.remove(&npc.name).unwrap_or_default();
            maker.seat(config, Arc::new(npc.clone()), history)
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let memory = memory.map(|store| session::Memory { store, scope, now });
    let parts = TableParts {
        options: config.session.clone(),
        seats,
        campaign,
        music: tools.music(),
        keywords: config.tiers.clone(),
        rules: config.rules.names().into(),
        budget: budget.clone(),
        memory,
        continuation,
        traces: tools.telemetry.traces.clone(),
    };
    let (handle, task) = session::open(setup, parts);
    Ok(OpenTable { handle, task, budget, seats: maker })
}

/// Speaks a word; returns seconds of sound.
pub async fn try_voice(tts: &dyn TextToSpeech, voice: &Voice) -> Result<f64, Error> {
    let mut chunks = tts.speak(SpeakRequest {
        text: "Hello.".to_owned(),
        voice: voice.clone(),
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    });
    let mut seconds = 0.0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        seconds += chunk.rate.duration_of(chunk.samples.len()).as_secs_f64();
    }
    Ok(seconds)
}

/// Names that raise a turn's tier: rules, and absent entities. `present` are NPCs at the table.
pub fn tier_names(config: &Config, present: &[&str]) -> Names {
    session::tier_names(&config.campaign, &config.rules.names(), present)
}

//! Seats of tables, made at the start and after an NPC's file has changed.
//!
//! Entry types: [`SeatMaker`], [`SeatedTable`], [`OpenTables`]. **Never**: keeps a table open.

use std::{
    collections::BTreeSet,
    sync::{Arc, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, mpsc};

use super::{settings::assistant, voice_lists::VoiceLists};
use crate::{
    campaign::{PlayedCampaign, SharedAssistant},
    config::Config,
    domain::{EngineKind, Message, Npc, Scope},
    engine::{
        Budget, Cascaded, Conversation, NpcCalls, NpcModel, Opener, SessionLimits, SpeechToSpeech,
        Synthesizer, VoiceEngine, VoiceLevels,
    },
    logic::budget::Work,
    provider::{Chain, ChatModel, Error, Registry, Services},
    session::{Command, Role, Seat},
    tools::ToolHost,
};

#[derive(Clone)]
pub struct SeatMaker {
    pub services: Registry,
    host: ToolHost,
    pub budget: Budget,
    /// Equalises their voices.
    levels: VoiceLevels,
    seed: u64,
}

impl SeatMaker {
    /// Makes seats that `budget` pays for and `levels` equalises.
    pub fn new(
        services: Registry,
        levels: &VoiceLevels,
        host: &ToolHost,
        budget: &Budget,
        seed: u64,
    ) -> Self {
        let levels = levels.clone();
        Self { services, host: host.clone(), budget: budget.clone(), levels, seed }
    }

    /// A seat for `npc` in the campaign of `config`, which continues from `history`.
    pub fn seat(
        &self,
        config: &Config,
        npc: Arc<Npc>,
        history: Vec<Message>,
    ) -> Result<Seat, Error> {
        let models = self.services.models(&config.services, &npc, self.seed)?;
        let voices = self.services.voices(&config.services, &npc)?;
        let mut brain = models.called();
        let budget = self.budget.clone();
        budget.expect(&npc.name, npc.policy.max_cost);
        let world = &config.campaign.entities;
        let voice = Synthesizer::of(Arc::clone(&npc), voices, budget.clone(), world)
            .levelled_by(&self.levels);
        let tts = voice.service();
        let max_tokens = config.longest_answer(&npc);
        let model = NpcModel { npc: Arc::clone(&npc), models, budget, max_tokens };
        let calls = NpcCalls {
            host: self.host.clone(),
            made: self.host.calls_of(&npc.name),
            filler_after: config.session.filler_after,
        };
        let conversation = Conversation::new(model.clone(), &config.campaign, history);
        let opener = self.opener(config, &npc)?;
        let opener = opener.map(|models| Opener::new(NpcModel { models, ..model.clone() }));
        let mut cascade = Cascaded::new(model, calls, voice);
        if let Some(opener) = opener {
            brain = format!("{}, then {brain}", opener.name());
            cascade = cascade.opened_by(opener);
        }
        let engine = self.engine(config, &npc, cascade)?;
        Ok(Seat::new(npc, conversation, engine, &brain, &tts))
    }

    /// `npc` as `config` describes it, for a running table.
    pub fn role(&self, config: &Arc<Config>, npc: &Npc) -> Role {
        let (seats, config, described) = (self.clone(), Arc::clone(config), npc.clone());
        let make = move || seats.seat(&config, Arc::new(described), Vec::new());
        Role { npc: npc.name.clone(), seat: Some(Box::new(make)), outside: BTreeSet::new() }
    }

    /// Paid work of `npc`, with the models' names in the price list.
    pub fn paid_work(&self, config: &Config, npc: &Npc) -> Result<Vec<(Work, String)>, Error> {
        let mut work = Vec::new();
        let mut add = |kind, model: Option<&str>| {
            work.extend(model.map(|model| (kind, model.to_owned())));
        };
        if npc.engine == EngineKind::SpeechToSpeech {
            if let Some(entry) = config.services.speech_to_speech_of(npc) {
                let talks = self.services.speech_to_speech(entry)?;
                add(Work::Talks(talks.abilities().sound), talks.priced_as());
            }
            return Ok(work);
        }
        let models = self.services.models(&config.services, npc, self.seed)?;
        if let Some(opens) = self.opener(config, npc)? {
            add(Work::Opens, opens.iter().next().and_then(|it| it.service().priced_as()));
        }
        add(Work::Thinks, models.iter().next().and_then(|it| it.service().priced_as()));
        let voices = self.services.voices(&config.services, npc)?;
        add(Work::Speaks, voices.iter().next().and_then(|it| it.service().priced_as()));
        Ok(work)
    }

    /// The chat model that opens the answers of `npc`, if its engine has one.
    fn opener(&self, config: &Config, npc: &Npc) -> Result<Option<Chain<dyn ChatModel>>, Error> {
        let is_opened = npc.engine == EngineKind::SentenceCascade;
        let Some(named) = npc.cascade.as_ref().filter(|_| is_opened) else { return Ok(None) };
        let llm = Some(named.opener.clone());
        let npc = Npc { engine: EngineKind::Cascaded, llm, ..npc.clone() };
        Ok(Some(self.services.models(&config.services, &npc, self.seed)?.first()))
    }

    /// The engine of `npc`, with `cascade` for failures.
    fn engine(
        &self,
        config: &Config,
        npc: &Npc,
        cascade: Cascaded,
    ) -> Result<Box<dyn VoiceEngine>, Error> {
        if npc.engine != EngineKind::SpeechToSpeech {
            return Ok(Box::new(cascade));
        }
        // `check` refuses this; a service added while playing needs a restart.
        let Some(entry) = config.services.speech_to_speech_of(npc) else {
            return Ok(Box::new(cascade));
        };
        let service = self.services.speech_to_speech(entry)?;
        let limits = SessionLimits { max_age: entry.max_age, idle: entry.idle };
        let is_guarded = !config.campaign.lines_and_veils.is_empty();
        Ok(Box::new(SpeechToSpeech::new(service, cascade, limits, is_guarded)))
    }
}

/// An open table whose NPCs can be updated.
#[derive(Clone)]
pub struct SeatedTable {
    /// Its commands; closed with the table.
    pub commands: mpsc::WeakSender<Command>,
    pub seats: SeatMaker,
    pub scope: Scope,
    /// `None`: the configured campaign.
    pub played: Option<PlayedCampaign>,
    /// Its configuration; locked until the next one is applied.
    pub config: Arc<Mutex<Arc<Config>>>,
    /// The services of its NPCs.
    pub services: Arc<ArcSwap<Services>>,
    /// The assistant during the session.
    pub assistant: SharedAssistant,
    /// Notices name outside services before they are used.
    pub is_told: bool,
    /// Outside services named so far.
    pub announced: Arc<ArcSwap<BTreeSet<String>>>,
    /// Voices its NPCs may be given.
    pub lists: VoiceLists,
}

impl SeatedTable {
    /// A table of `scope` with `seats`, as `config` describes it.
    pub fn new(
        commands: &mpsc::Sender<Command>,
        seats: &SeatMaker,
        scope: Scope,
        config: &Config,
        lists: &VoiceLists,
    ) -> Self {
        let services = config.describe(&config.npcs);
        let assistant = assistant(&seats.services, config);
        Self {
            commands: commands.downgrade(),
            seats: seats.clone(),
            scope,
            played: None,
            config: Arc::new(Mutex::new(Arc::new(config.clone()))),
            services: Arc::new(ArcSwap::from_pointee(services)),
            assistant: Arc::new(ArcSwap::from_pointee(assistant)),
            is_told: false,
            announced: Arc::default(),
            lists: lists.clone(),
        }
    }

    /// True if the outside `services` may be used at this table.
    pub fn knows(&self, services: &BTreeSet<String>) -> bool {
        !self.is_told || services.is_subset(&self.announced.load())
    }

    /// `npc` as `config` describes it, for this table; it waits for notices of outside services.
    pub fn role(&self, config: &Arc<Config>, npc: &Npc) -> Role {
        let outside = || config.describe(&config.npcs).announced().collect();
        let outside = self.is_told.then(outside).unwrap_or_default();
        Role { outside, ..self.seats.role(config, npc) }
    }
}

/// Running tables. Cloning shares them.
#[derive(Clone, Default)]
pub struct OpenTables(Arc<std::sync::Mutex<Vec<SeatedTable>>>);

impl OpenTables {
    pub fn add(&self, table: SeatedTable) {
        self.open().push(table);
    }

    pub fn running(&self) -> Vec<SeatedTable> {
        let mut open = self.open();
        open.retain(|table| table.commands.upgrade().is_some());
        open.clone()
    }

    fn open(&self) -> MutexGuard<'_, Vec<SeatedTable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What services read of the configuration, taken out of it.
//!
//! Entry type: [`LiveConfig`]; function [`assistant`]. **Never**: starts anything.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use super::brain;
use crate::{
    campaign::{AssistantSettings, ModelMaker, Service, Services, Settings, SharedSettings},
    config::{self, Config, LlmChoice, SttChoice, TtsChoice},
    provider::openai,
};

/// The configuration as the files say it now.
pub struct LiveConfig {
    config: ArcSwap<Config>,
    settings: SharedSettings,
}

impl LiveConfig {
    /// Begins with `config`.
    pub fn new(config: Config) -> Arc<Self> {
        let settings = Arc::new(ArcSwap::from_pointee(settings(&config)));
        Arc::new(Self { config: ArcSwap::from_pointee(config), settings })
    }

    /// The configuration now, for a look.
    pub fn load(&self) -> Guard<Arc<Config>> {
        self.config.load()
    }

    /// The configuration now, to go on with.
    pub fn load_full(&self) -> Arc<Config> {
        self.config.load_full()
    }

    /// What services read of it, always of now.
    pub fn settings(&self) -> SharedSettings {
        Arc::clone(&self.settings)
    }

    /// From now on it is `fresh`.
    pub fn store(&self, fresh: Config) {
        self.settings.store(Arc::new(settings(&fresh)));
        self.config.store(Arc::new(fresh));
    }
}

fn settings(config: &Config) -> Settings {
    Settings {
        campaign: Arc::new(config.campaign.clone()),
        cast: config.npcs.iter().cloned().map(Arc::new).collect(),
        assistant: assistant(config),
        budget: config.budget.clone(),
        consolidate: config.memory.consolidate,
        data_dir: config.data_dir.clone(),
        environment: config.environment.clone(),
        services: services(config),
    }
}

/// How the assistant of `config` is asked.
pub fn assistant(config: &Config) -> AssistantSettings {
    let npc = Arc::new(config.assistant.clone());
    let (llm, of) = (config.llm.clone(), Arc::clone(&npc));
    AssistantSettings {
        npc,
        model: ModelMaker::new(move |seed| brain(&llm, &of, seed)),
        campaign: Arc::new(config.campaign.clone()),
        max_tokens: config.session.max_tokens,
        filler_after: config.session.filler_after,
    }
}

fn services(config: &Config) -> Services {
    let here = |name: &str| Service { name: name.to_owned(), is_local: true };
    let hears = match &config.stt {
        SttChoice::Local => here("PocketSphinx"),
        SttChoice::OpenAi { options, .. } => service(options),
    };
    let thinks = match &config.llm {
        LlmChoice::Scripted => here("written lines"),
        LlmChoice::OpenAi(options) => service(options),
    };
    let sums_up = config.llm != LlmChoice::Scripted;
    let mut speaks = Vec::new();
    for npc in &config.npcs {
        let voice = match (npc.voice.provider.as_str(), &config.tts) {
            ("openai", TtsChoice::OpenAi(options)) => service(options),
            ("espeak", _) => here("espeak-ng"),
            _ => here("flite"),
        };
        if !speaks.contains(&voice) {
            speaks.push(voice);
        }
    }
    Services { hears, thinks, sums_up, speaks, cap: config.budget.session_max }
}

fn service(options: &openai::Options) -> Service {
    let host = options.base_url.split("//").nth(1).and_then(|rest| rest.split('/').next());
    let name = format!("{} at {}", options.model, host.unwrap_or(&options.base_url));
    Service { name, is_local: config::is_local(&options.base_url) }
}

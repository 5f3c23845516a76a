//! The current configuration, and the parts that services read. Entry type: [`LiveConfig`].

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::{ArcSwap, Guard};

use super::{campaign_key, voice_offers::voice_lister};
use crate::{
    campaign::{
        AssistantSettings, ImportSettings, ModelMaker, PlayedCampaign, Settings, SharedSettings,
        key_of,
    },
    config::{Config, DiscordOptions},
    discord::Options,
    domain::{Campaign, CampaignKey},
    import::campaign::World,
    provider::Registry,
};

/// The current configuration of the files.
pub struct LiveConfig {
    services: Registry,
    config: ArcSwap<Config>,
    settings: SharedSettings,
}

impl LiveConfig {
    /// Starts with `config`, whose services `services` opens.
    pub fn new(config: Config, services: Registry) -> Arc<Self> {
        let settings = Arc::new(ArcSwap::from_pointee(settings(&services, &config)));
        Arc::new(Self { services, config: ArcSwap::from_pointee(config), settings })
    }

    /// For a short look.
    pub fn load(&self) -> Guard<Arc<Config>> {
        self.config.load()
    }

    /// For longer use.
    pub fn load_full(&self) -> Arc<Config> {
        self.config.load_full()
    }

    /// Settings for services; always current.
    pub fn settings(&self) -> SharedSettings {
        Arc::clone(&self.settings)
    }

    pub fn store(&self, fresh: Config) {
        self.settings.store(Arc::new(settings(&self.services, &fresh)));
        self.config.store(Arc::new(fresh));
    }
}

fn settings(services: &Registry, config: &Config) -> Settings {
    Settings {
        campaign: Arc::new(config.campaign.clone()),
        worlds: worlds(config),
        shared: config.shared.iter().map(|(campaign, _)| played(campaign)).collect(),
        cast: config.npcs.iter().cloned().map(Arc::new).collect(),
        assistant: assistant(services, config),
        budget: config.budget.clone(),
        approvals: config.approvals.clone(),
        consolidate: config.memory.consolidate,
        data_dir: config.data_dir.clone(),
        environment: config.environment.clone(),
        services: config.describe(&config.npcs),
        imports: ImportSettings {
            npc_dir: config.npc_dir.clone(),
            language: config.assistant.language.clone(),
            voices: voice_lister(config),
        },
        workflows: Arc::clone(&config.workflows),
        schedules: config.schedules.clone(),
    }
}

fn played(campaign: &Campaign) -> PlayedCampaign {
    let Campaign { name, description, system, .. } = campaign.clone();
    PlayedCampaign { name, description, system }
}

fn worlds(config: &Config) -> BTreeMap<CampaignKey, Arc<World>> {
    let shared =
        config.shared.iter().map(|(it, world)| (key_of(&it.name), Arc::new(world.clone())));
    shared.chain([(campaign_key(config), Arc::new(config.world.clone()))]).collect()
}

pub fn assistant(services: &Registry, config: &Config) -> AssistantSettings {
    let npc = Arc::new(config.assistant.clone());
    let (services, options) = (services.clone(), config.services.clone());
    let of = Arc::clone(&npc);
    AssistantSettings {
        npc,
        model: ModelMaker::new(move |seed| services.models(&options, &of, seed)),
        campaign: Arc::new(config.campaign.clone()),
        max_tokens: config.longest_answer(&config.assistant),
        filler_after: config.session.filler_after,
    }
}

/// Options as in the file; no `/setup` code is set.
pub fn bot_options(file: &DiscordOptions) -> Options {
    let file = file.clone();
    Options {
        token: file.token,
        api: file.api,
        guild: file.guild,
        served: file.served,
        code: None,
        dm_role: file.dm_role,
        everyone_is_dm: file.everyone_is_dm,
        consent: file.consent,
        idle: file.idle,
        folder: file.folder,
    }
}

//! Parts of the configuration that services read.
//!
//! Entry type: [`LiveConfig`]; function [`assistant`]. **Never**: starts anything.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::{ArcSwap, Guard};

use super::campaign_key;
use crate::{
    campaign::{AssistantSettings, ModelMaker, PlayedCampaign, Settings, SharedSettings, key_of},
    config::Config,
    domain::{Campaign, CampaignKey},
    import::campaign::World,
    provider::Registry,
};

/// The configuration as the files say it now.
pub struct LiveConfig {
    services: Registry,
    config: ArcSwap<Config>,
    settings: SharedSettings,
}

impl LiveConfig {
    /// Begins with `config`, whose services are opened by `services`.
    pub fn new(config: Config, services: Registry) -> Arc<Self> {
        let settings = Arc::new(ArcSwap::from_pointee(settings(&services, &config)));
        Arc::new(Self { services, config: ArcSwap::from_pointee(config), settings })
    }

    /// The configuration now, for a look.
    pub fn load(&self) -> Guard<Arc<Config>> {
        self.config.load()
    }

    /// The configuration now, to go on with.
    pub fn load_full(&self) -> Arc<Config> {
        self.config.load_full()
    }

    /// Settings that services read of it; always the current ones.
    pub fn settings(&self) -> SharedSettings {
        Arc::clone(&self.settings)
    }

    /// From now on it is `fresh`.
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
        services: config.services.describe(&config.npcs),
    }
}

/// Data that a server stores of a campaign that it plays.
fn played(campaign: &Campaign) -> PlayedCampaign {
    let Campaign { name, description, system, .. } = campaign.clone();
    PlayedCampaign { name, description, system }
}

/// Worlds from the files of campaigns, by the campaigns' keys.
fn worlds(config: &Config) -> BTreeMap<CampaignKey, Arc<World>> {
    let shared =
        config.shared.iter().map(|(it, world)| (key_of(&it.name), Arc::new(world.clone())));
    shared.chain([(campaign_key(config), Arc::new(config.world.clone()))]).collect()
}

/// Builds the assistant's settings from `config`.
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

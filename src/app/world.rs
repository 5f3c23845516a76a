//! The configuration for a session of a campaign.
//!
//! Entry functions: [`for_session`], [`seeded_for_session`], [`with_names`]. **Never**: writes to
//! the store what is in no file.

use super::{campaign_key, local_scope, open_memory, world_of};
use crate::{
    campaign::{self, PlayedCampaign, Scoped, entities_of_no_file, key_of},
    config::{Config, MemoryPlace},
    domain::Campaign,
    import::campaign::World,
    memory::Error,
};

/// `config` for a session of the campaign `other`, or of the configured one. Adds the stored
/// entities `at` its scope that are in no file, so that their names are known at the table.
pub async fn for_session(
    config: &Config,
    at: Scoped<'_>,
    other: Option<&PlayedCampaign>,
) -> Result<Config, Error> {
    let mut config = config.clone();
    let own = campaign_key(&config);
    if let Some(other) = other.filter(|other| key_of(&other.name) != own) {
        let shared = config.shared.iter().find(|(it, _)| key_of(&it.name) == key_of(&other.name));
        let (campaign, world) = shared.cloned().unwrap_or_else(|| {
            let campaign = Campaign {
                name: other.name.clone(),
                description: other.description.clone(),
                system: other.system.clone(),
                ..Campaign::default()
            };
            (campaign, World::default())
        });
        config.campaign = Campaign {
            // Lines and veils apply to every campaign, and the cast plays in each.
            lines_and_veils: config.campaign.lines_and_veils,
            cast: config.campaign.cast,
            ..campaign
        };
        config.world = world;
    }
    let others = entities_of_no_file(at, *at.campaign() != own).await?;
    config.campaign.entities.extend(others);
    Ok(config)
}

/// Like [`for_session`], after updating the stored entities of the campaign's file.
pub async fn seeded_for_session(
    config: &Config,
    at: Scoped<'_>,
    played: Option<&PlayedCampaign>,
) -> anyhow::Result<Config> {
    if let Some(world) = world_of(config, at.campaign()) {
        campaign::seed(at, world).await?;
    }
    Ok(for_session(config, at, played).await?)
}

/// `config` with the names of its store, if it exists.
pub async fn with_names(config: &Config) -> Config {
    if let MemoryPlace::File(path) = &config.memory.place
        && !path.exists()
    {
        return config.clone();
    }
    let named = async {
        let store = open_memory(config).await?;
        let scope = local_scope(config);
        anyhow::Ok(for_session(config, Scoped::new(&*store, &scope), None).await?)
    };
    named.await.unwrap_or_else(|error| {
        let error = format!("{error:#}");
        tracing::warn!(error, "names from the memory are missing (names in files still work)");
        config.clone()
    })
}

//! The store that is configured, and the world of the campaign file in it.
//!
//! Entry functions: [`open_memory`], [`campaign_key`], [`key_of`]. **Never**: changes what somebody else has put
//! into it.

use std::sync::Arc;

use super::world::{self, CAMPAIGN_FILE};
use crate::{
    config::{Config, MemoryPlace},
    import::campaign::hyphened,
    memory::{CampaignKey, MemoryStore, Postgres, Sqlite},
};

/// Longest key of a campaign, in characters.
const KEY_MAX: usize = 64;

/// Opens the store; a file is made where there is none, and the entities of the campaign file are
/// put into it where they have changed.
///
/// # Errors
/// It cannot be reached or written, is newer than this program, or damaged.
pub async fn open_memory(config: &Config) -> anyhow::Result<Arc<dyn MemoryStore>> {
    let store: Arc<dyn MemoryStore> = match config.memory.place.clone() {
        MemoryPlace::File(path) => {
            Arc::new(tokio::task::spawn_blocking(move || Sqlite::open(&path)).await??)
        }
        MemoryPlace::Server(address) => Arc::new(Postgres::open(&address).await?),
    };
    put_world(config, &*store).await?;
    Ok(store)
}

/// The key of the campaign that is configured; "default" without a name.
pub fn campaign_key(config: &Config) -> CampaignKey {
    key_of(&config.campaign.name)
}

/// The key of the campaign called `name`: its letters and digits in lower case, anything between them
/// a hyphen; "default" without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

/// Makes the entities that come from the campaign file those that are in it.
async fn put_world(config: &Config, store: &dyn MemoryStore) -> anyhow::Result<()> {
    let campaign = campaign_key(config);
    let worlds = std::slice::from_ref(&config.world);
    let mut plan = world::plan(store, &campaign, worlds, CAMPAIGN_FILE).await?;
    plan.carry_out(store, &campaign).await?;
    let world::Plan { added, changed, removed, .. } = plan;
    tracing::debug!(added, changed, removed, "the world of the campaign file is remembered");
    Ok(())
}

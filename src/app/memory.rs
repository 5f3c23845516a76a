//! The store that is configured.
//!
//! Entry functions: [`open_memory`], [`campaign_key`]. **Never**: puts anything into it.

use std::sync::Arc;

use crate::{
    config::Config,
    memory::{CampaignKey, MemoryStore, Sqlite},
};

/// Longest key of a campaign, in characters.
const KEY_MAX: usize = 64;

/// Opens the store; its file is made where there is none. Blocks.
///
/// # Errors
/// It cannot be written, is newer than this program, or damaged.
pub fn open_memory(config: &Config) -> anyhow::Result<Arc<dyn MemoryStore>> {
    Ok(Arc::new(Sqlite::open(&config.memory.path)?))
}

/// The key of the campaign that is configured: letters and digits of its name in lower case, anything
/// between them a hyphen; "default" without a name.
pub fn campaign_key(config: &Config) -> CampaignKey {
    let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let words: String = config.campaign.name.chars().map(plain).collect();
    let key = words.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
    let key: String = key.chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

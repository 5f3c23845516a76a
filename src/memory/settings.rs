//! What guilds have set, and the store itself.
//!
//! Entry trait: [`Settings`]. **Never**: knows what is in a guild's document.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, CampaignKey};

/// How a store is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The engine and its version.
    pub engine: String,
    /// Where it keeps things; no secrets in it.
    pub place: String,
    /// The schema's number.
    pub schema: u32,
    /// Bytes on disk.
    pub bytes: u64,
}

/// What belongs to no campaign.
pub trait Settings: Send + Sync {
    /// What a guild has set; `None`: nothing.
    fn guild(&self, guild: u64) -> Answer<'_, Option<Value>>;

    /// Keeps what a guild has set in place of what was there; `None`: nothing any more.
    fn put_guild(&self, guild: u64, document: Option<Value>) -> Answer<'_, ()>;

    /// Campaigns of which there is anything.
    fn campaigns(&self) -> Answer<'_, Vec<CampaignKey>>;

    /// Whether it answers, and what it is.
    fn health(&self) -> Answer<'_, Health>;
}

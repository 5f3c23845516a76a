//! The store itself, and what guilds have set.
//!
//! Entry trait: [`Settings`]. **Never**: tells a password, or knows what a guild can set.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CampaignKey, StoreFuture};

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

/// What a guild has set, as it was written.
#[derive(Clone, PartialEq, Eq)]
pub struct GuildRecord {
    /// Counts up with every change.
    pub revision: u64,
    /// The settings.
    pub text: String,
}

/// Tokens of tool servers may be in it.
impl fmt::Debug for GuildRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "revision {}", self.revision)
    }
}

/// What belongs to no campaign.
pub trait Settings: Send + Sync {
    /// Campaigns of which there is anything.
    fn campaigns(&self) -> StoreFuture<'_, Vec<CampaignKey>>;

    /// What `guild` has set; `None`: nothing yet.
    fn guild(&self, guild: u64) -> StoreFuture<'_, Option<GuildRecord>>;

    /// Keeps what `guild` has set, unless the same revision or a later one is there.
    fn put_guild(&self, guild: u64, record: GuildRecord) -> StoreFuture<'_, ()>;

    /// Whether it answers, and what it is.
    fn health(&self) -> StoreFuture<'_, Health>;
}

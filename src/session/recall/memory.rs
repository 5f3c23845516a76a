//! Where a table's NPCs remember.

use std::sync::Arc;

use crate::memory::{CampaignKey, MemoryStore};

/// Where a table's NPCs remember.
#[derive(Clone)]
pub struct Memory {
    /// Where lines, facts and relations are read.
    pub store: Arc<dyn MemoryStore>,
    /// Of which campaign they are read.
    pub campaign: CampaignKey,
    /// Unix time in ms.
    pub now: fn() -> i64,
}

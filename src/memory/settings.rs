//! The store itself.
//!
//! Entry trait: [`Settings`]. **Never**: tells a password.

use serde::{Deserialize, Serialize};

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
    /// Campaigns of which there is anything.
    fn campaigns(&self) -> Answer<'_, Vec<CampaignKey>>;

    /// Whether it answers, and what it is.
    fn health(&self) -> Answer<'_, Health>;
}

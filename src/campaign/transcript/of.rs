//! Which session is written down.
//!
//! Entry type: [`Transcript`].

use crate::memory::CampaignKey;

/// A session that is written down.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The campaign it belongs to.
    pub campaign: CampaignKey,
    /// Its name.
    pub session: String,
    /// Its guild; without one players are known by their names.
    pub guild: Option<u64>,
}

//! Keys of campaigns.
//!
//! Entry function: [`key_of`]. **Never**: tells campaigns apart that are called alike.

use crate::{import::campaign::hyphened, memory::CampaignKey};

/// Longest key of a campaign, in characters.
const KEY_MAX: usize = 64;

/// The key of the campaign called `name`: its letters and digits in lower case, anything between them
/// a hyphen; "default" without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

//! Keys of campaigns. Equal names mean the same campaign.

use crate::{import::campaign::hyphened, memory::CampaignKey};

/// Longest key, in characters.
const KEY_MAX: usize = 64;

/// Letters and digits of `name` in lower case, with a hyphen for anything between them; "default"
/// without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

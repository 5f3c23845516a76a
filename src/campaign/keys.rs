//! Keys of campaigns. Equal names mean the same campaign.

use crate::{import::campaign::hyphened, memory::CampaignKey};

/// Longest key, in characters.
const KEY_MAX: usize = 64;

/// Lower-case letters and digits of `name`, joined by hyphens; "default" without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

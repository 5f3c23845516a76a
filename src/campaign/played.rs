//! A campaign that a guild plays, and keys of campaigns. Equal names mean the same campaign.

use serde::{Deserialize, Serialize};

use crate::{import::campaign::hyphened, memory::CampaignKey};

/// A campaign that a guild plays instead of the configured one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayedCampaign {
    /// Its key is made from it.
    pub name: String,
    pub description: String,
    pub system: String,
}

/// Longest key, in characters.
const KEY_MAX: usize = 64;

/// Lower-case letters and digits of `name`, joined by hyphens; "default" without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

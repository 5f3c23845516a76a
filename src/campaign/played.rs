//! A campaign that a guild plays, and keys of campaigns. Equal names mean the same campaign.
//! [`Scoped`] limits a store to one owner and campaign.

use serde::{Deserialize, Serialize};

use crate::{
    domain::Scope,
    import::campaign::hyphened,
    memory::{CampaignKey, MemoryStore},
};

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

/// Name and key of a campaign without a name.
const UNNAMED: &str = "default";

/// Name of a campaign as people see it: `name`, or "default" if it is empty.
pub const fn shown_name(name: &str) -> &str {
    if name.is_empty() { UNNAMED } else { name }
}

/// Lower-case letters and digits of `name`, joined by hyphens; "default" without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { UNNAMED.to_owned() } else { key })
}

#[derive(Clone, Copy)]
pub struct Scoped<'a> {
    pub store: &'a dyn MemoryStore,
    pub scope: &'a Scope,
}

impl<'a> Scoped<'a> {
    pub fn new(store: &'a dyn MemoryStore, scope: &'a Scope) -> Self {
        Self { store, scope }
    }

    pub const fn campaign(self) -> &'a CampaignKey {
        &self.scope.campaign
    }
}

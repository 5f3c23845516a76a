//! A store, limited to one owner and campaign.

use crate::{
    domain::Scope,
    memory::{CampaignKey, MemoryStore},
};

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

//! A store, and whose things in it are meant.
//!
//! Entry type: [`Scoped`]. **Never**: sees what belongs to another scope.

use crate::{
    domain::Scope,
    memory::{CampaignKey, MemoryStore},
};

/// A store, and whose things in it are meant.
#[derive(Clone, Copy)]
pub struct Scoped<'a> {
    /// Store that holds them.
    pub store: &'a dyn MemoryStore,
    /// Their owner and campaign.
    pub scope: &'a Scope,
}

impl<'a> Scoped<'a> {
    /// Things of `scope` in `store`.
    pub fn new(store: &'a dyn MemoryStore, scope: &'a Scope) -> Self {
        Self { store, scope }
    }

    /// The campaign they belong to.
    pub const fn campaign(self) -> &'a CampaignKey {
        &self.scope.campaign
    }
}

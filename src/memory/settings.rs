//! The store itself, and the settings of guilds.
//!
//! Entry traits: [`MemoryStore`], [`Settings`]. **Never**: reveals a password.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::Scope;

use super::{
    StoreFuture, automation::Automation, deletion::Deletions, graph::Graph, index::Index,
    leases::Leases, spending::Spending, tokens::AccessTokens, transcript::Transcript,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    pub engine: String,
    pub place: String,
    pub schema: u32,
    pub bytes: u64,
}

#[derive(Clone, PartialEq, Eq)]
pub struct GuildRecord {
    pub revision: u64,
    pub text: String,
}

/// Omits the text: it may contain tokens of tool servers.
impl fmt::Debug for GuildRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "revision {}", self.revision)
    }
}

/// Records that belong to no single scope.
pub trait Settings: Send + Sync {
    /// Every scope with data, by owner and campaign.
    fn scopes(&self) -> StoreFuture<'_, Vec<Scope>>;

    /// `None`: nothing stored.
    fn guild(&self, guild: u64) -> StoreFuture<'_, Option<GuildRecord>>;

    /// Stores the settings of `guild`, unless the stored revision is as new.
    fn put_guild(&self, guild: u64, record: GuildRecord) -> StoreFuture<'_, ()>;

    fn health(&self) -> StoreFuture<'_, Health>;
}

/// All layers of a memory.
pub trait MemoryStore:
    Transcript + Graph + Index + Settings + Spending + Deletions + Automation + AccessTokens + Leases
{
}

impl<T> MemoryStore for T where
    T: Transcript
        + Graph
        + Index
        + Settings
        + Spending
        + Deletions
        + Automation
        + AccessTokens
        + Leases
{
}

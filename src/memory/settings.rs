//! The store itself, and what guilds have set.
//!
//! Entry trait: [`Settings`]. **Never**: tells a password, or knows what a guild can set.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::Scope;

use super::reply::StoreFuture;

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The engine and its version.
    pub engine: String,
    /// Place of its data, without secrets.
    pub place: String,
    /// The schema's number.
    pub schema: u32,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Settings of a guild, as they were written.
#[derive(Clone, PartialEq, Eq)]
pub struct GuildRecord {
    /// Counts up with every change.
    pub revision: u64,
    /// The settings as the caller has written them.
    pub text: String,
}

/// Leaves the text out: it may hold tokens of tool servers.
impl fmt::Debug for GuildRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "revision {}", self.revision)
    }
}

/// Records that belong to no single scope.
pub trait Settings: Send + Sync {
    /// Everything the store has anything of, by owner and campaign.
    fn scopes(&self) -> StoreFuture<'_, Vec<Scope>>;

    /// Settings of `guild`; `None`: nothing yet.
    fn guild(&self, guild: u64) -> StoreFuture<'_, Option<GuildRecord>>;

    /// Keeps what `guild` has set, unless the same revision or a later one is there.
    fn put_guild(&self, guild: u64, record: GuildRecord) -> StoreFuture<'_, ()>;

    /// State of the store, if it answers.
    fn health(&self) -> StoreFuture<'_, Health>;
}

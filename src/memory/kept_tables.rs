//! States of tables, from which a session continues: conversations as heard, muted NPCs, scene,
//! what the game master has set, music, money spent.
//!
//! Entry trait: [`KeptTables`]. The text of a state is its writer's; a store does not read it.
//! **Never**: replaces a later revision by an earlier one.

use std::fmt;

use super::StoreFuture;
use crate::domain::Owner;

/// The state of one session's table.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptTable {
    /// Incremented by every change, from 1.
    pub revision: u64,
    /// JSON.
    pub text: String,
}

/// Omits the text: it is what people have said.
impl fmt::Debug for KeptTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "revision {}", self.revision)
    }
}

/// A session's id is unique for its owner, whatever campaign it plays; its text names the campaign.
pub trait KeptTables: Send + Sync {
    /// Ids of the sessions of `owner` that have a state, in order.
    fn kept_ids(&self, owner: Owner) -> StoreFuture<'_, Vec<String>>;

    /// `None`: nothing stored.
    fn kept_table<'a>(
        &'a self,
        owner: Owner,
        session: &'a str,
    ) -> StoreFuture<'a, Option<KeptTable>>;

    /// Stores `table`, unless the stored revision is as new; false then.
    fn put_kept_table<'a>(
        &'a self,
        owner: Owner,
        session: &'a str,
        table: KeptTable,
    ) -> StoreFuture<'a, bool>;

    /// True if it existed.
    fn remove_kept_table<'a>(&'a self, owner: Owner, session: &'a str) -> StoreFuture<'a, bool>;
}

//! What is told about deletions.
//!
//! Entry types: [`Deleted`], [`NamesOf`]. **Never**: holds what somebody has said.

use crate::domain::{Owner, PersonId};

/// A delayed deletion that is now complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Owner of the sessions.
    pub owner: Owner,
    /// The person who requested it.
    pub asker: PersonId,
}

/// Names of a person where earlier versions have kept things by name: conversations of NPCs, and calls of
/// tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesOf {
    /// Theirs alone: what is kept under these goes with their lines.
    pub own: Vec<String>,
    /// Somebody else's too: what is kept under these stays.
    pub shared: Vec<String>,
}

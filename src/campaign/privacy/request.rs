//! Notices of deletions, and lists of what is stored about a person.
//!
//! Entry types: [`Deleted`], [`NamesOf`], [`StoredOf`], [`KeptFiles`]. **Never**: holds what another person has
//! said.

use std::collections::BTreeMap;

use crate::{
    campaign::KeptError,
    domain::{Owner, PersonId},
    memory::TranscriptLine,
};

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

/// What the store holds of a person.
#[derive(Clone, Debug, Default)]
pub struct StoredOf {
    /// Their lines, and NPCs' answers to them.
    pub lines: Vec<TranscriptLine>,
    /// Number of lines at which they are listed as present.
    pub present: u64,
    /// Identities of all people with lines, by name and by identity.
    pub people: BTreeMap<String, String>,
}

impl StoredOf {
    /// True if it holds nothing of them.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.present == 0
    }
}

/// What the files of a kept session hold of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOf {
    /// The session.
    pub session: String,
    /// Messages in conversations of NPCs.
    pub messages: usize,
    /// Calls of tools.
    pub calls: usize,
    /// Unfinished files that name them, left by programs that were killed.
    pub parts: usize,
}

/// What the files of all kept sessions hold of a person.
#[derive(Debug, Default)]
pub struct KeptFiles {
    /// Sessions that hold something.
    pub of: Vec<KeptOf>,
    /// The first reason why a file could not be read.
    pub unread: Option<KeptError>,
}

//! One person's stored data: shown to them, and forgotten. Entry type: [`Privacy`].
//! **Never**: leaves a person's words where NPCs continue from them.

mod direct;
mod erasure;
mod failure;
mod files;
mod lines;
mod pending;
mod planned;
mod queue;
mod service;
mod stored;
#[cfg(test)]
mod tests;

pub use direct::DirectDeletion;
pub use files::played_elsewhere;
pub use lines::{names, own_lines, stored_of};
pub use service::Privacy;
pub use stored::{kept_of, played_by_node};

use std::collections::BTreeMap;

use crate::{
    campaign::KeptError,
    domain::{Owner, PersonId},
    memory::TranscriptLine,
};

/// A delayed deletion that is now complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    pub owner: Owner,
    pub asker: PersonId,
}

/// Names of a person in records of earlier versions, which use names: conversations and tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesOf {
    /// Theirs alone; records under these are deleted with their lines.
    pub own: Vec<String>,
    /// Shared with other people; records under these stay.
    pub shared: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct StoredOf {
    /// Their lines, and NPCs' answers to them.
    pub lines: Vec<TranscriptLine>,
    /// Number of lines that list them as present.
    pub present: u64,
    /// Number of schedules and runs of workflows with their id.
    pub planned: u64,
    /// Identities of all people with lines, by name and by identity.
    pub people: BTreeMap<String, String>,
}

impl StoredOf {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.present == 0 && self.planned == 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOf {
    pub session: String,
    /// Messages in conversations of NPCs.
    pub messages: usize,
    pub calls: usize,
    /// Unfinished files that name them, left by killed programs.
    pub parts: usize,
}

#[derive(Debug, Default)]
pub struct KeptFiles {
    pub of: Vec<KeptOf>,
    /// The first error of an unreadable file.
    pub unread: Option<KeptError>,
}

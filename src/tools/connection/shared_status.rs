//! The state of one server, shared between its task and the lists that show it.
//!
//! Entry type: [`SharedStatus`]. **Never**: waits.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::{
    lists,
    pinned::{self, PinnedSize},
    resources,
    status::{Kept, State},
    tail,
    tool::Link,
    traffic::{self, Traffic},
};

/// The state of one server, written by its task and read by everybody else.
pub struct SharedStatus {
    /// Its connection; readers can wait for changes.
    pub state: watch::Sender<State>,
    /// Shared with its tools.
    pub link: Arc<Link>,
    /// Details that lists show beside the state.
    pub details: Mutex<Details>,
}

/// Details of a server that lists show beside its state.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// Tools it offers.
    pub tools: Vec<String>,
    /// Tools that wait for approval.
    pub held: Vec<String>,
    /// Changes of those of them that were known, a tool a line and lines below it.
    pub changed: Vec<String>,
    /// Tools no model could take, with the reason.
    pub refused: Vec<String>,
    /// Keys of its resources.
    pub resources: Vec<String>,
    /// Files whose replacement starts its program again.
    pub held_files: Vec<String>,
    /// Revision of the protocol that was agreed on.
    pub revision: Option<String>,
    /// Name and version that it gives itself; each empty where it gives none.
    pub calls_itself: (String, String),
    /// Bytes of its list of tools.
    pub list_bytes: usize,
    /// Bytes of its resources.
    pub resource_bytes: usize,
    /// Size of the stored definitions of its tools.
    pub pinned: PinnedSize,
    /// Count of its unasked messages.
    pub traffic: Arc<Traffic>,
}

impl Details {
    /// Memory held for it, with so many lines of its stderr.
    pub fn kept(&self, words: usize) -> Kept {
        Kept {
            tools: self.tools.len() + self.held.len() + self.refused.len(),
            tools_most: lists::ENTRIES,
            list_bytes: self.list_bytes,
            list_bytes_most: lists::BYTES,
            resource_bytes: self.resource_bytes,
            resource_bytes_most: resources::KEPT,
            questions: self.traffic.open(),
            questions_most: traffic::OPEN,
            pinned: self.pinned.names,
            pinned_most: pinned::NAMES,
            pinned_bytes: self.pinned.bytes,
            pinned_bytes_most: pinned::BYTES,
            words,
            words_most: tail::LINES,
            unasked: self.traffic.unasked(),
        }
    }
}

impl SharedStatus {
    /// A server that is connecting for the first time.
    pub fn new(name: &str) -> Self {
        Self {
            state: watch::Sender::new(State::Connecting),
            link: Arc::new(Link::new(name)),
            details: Mutex::default(),
        }
    }

    /// A copy of what lists show.
    pub fn details(&self) -> Details {
        self.details.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what lists show.
    pub fn change(&self, change: impl FnOnce(&mut Details)) {
        change(&mut self.details.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

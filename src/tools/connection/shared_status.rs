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
    /// What lists show beside the state.
    pub details: Mutex<Details>,
}

/// What lists show of a server beside its state.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// Tools it offers.
    pub tools: Vec<String>,
    /// Tools that wait for approval.
    pub held: Vec<String>,
    /// What has changed about those of them that were known, a tool a line and lines below it.
    pub changed: Vec<String>,
    /// Tools no model could take, with the reason.
    pub refused: Vec<String>,
    /// Keys of its resources.
    pub resources: Vec<String>,
    /// Newest revision of the protocol it speaks.
    pub revision: Option<&'static str>,
    /// What it calls itself, and its version; empty where it says neither.
    pub calls_itself: (String, String),
    /// Bytes of its list of tools.
    pub list_bytes: usize,
    /// Bytes of its resources.
    pub resource_bytes: usize,
    /// What is known of how its tools were defined.
    pub pinned: PinnedSize,
    /// What it has sent unasked.
    pub traffic: Arc<Traffic>,
}

impl Details {
    /// What is kept for it, with so many lines of its stderr.
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

//! State of one server, shared between its task and the lists that show it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::{
    lists,
    options::ServerOptions,
    pinned::{self, PinnedSize},
    resources,
    status::{Kept, State},
    tail,
    tool::Link,
    traffic::{self, Traffic},
};
use crate::domain::redact;

pub struct SharedStatus {
    /// Connection state; readers can wait for changes.
    pub state: watch::Sender<State>,
    /// Shared with its tools.
    pub link: Arc<Link>,
    pub details: Mutex<Details>,
}

#[derive(Clone, Debug, Default)]
pub struct Details {
    pub tools: Vec<String>,
    pub held: Vec<String>,
    /// Changes of known tools: a line each, with indented lines below.
    pub changed: Vec<String>,
    /// Tools no model could take, with the reason.
    pub refused: Vec<String>,
    pub resources: Vec<String>,
    /// Files whose replacement restarts its program.
    pub held_files: Vec<String>,
    pub revision: Option<String>,
    /// Name and version it reports; may be empty.
    pub calls_itself: (String, String),
    pub list_bytes: usize,
    pub resource_bytes: usize,
    pub pinned: PinnedSize,
    pub traffic: Arc<Traffic>,
}

impl Details {
    /// Memory used for it; `words` is the number of stderr lines.
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
    /// Status of the server `options` describe, before its first connection.
    pub fn new(options: &ServerOptions) -> Self {
        let address = redact::known(&options.reach.endpoint()).into_owned();
        Self {
            state: watch::Sender::new(State::Connecting),
            link: Arc::new(Link::new(&options.name, &address)),
            details: Mutex::default(),
        }
    }

    pub fn details(&self) -> Details {
        self.details.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn change(&self, change: impl FnOnce(&mut Details)) {
        change(&mut self.details.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

//! A request to a candidate, from whether it may be made to what became of it.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::Health;
use crate::provider::Error;

/// A request to a candidate that is under way. Dropped before it was answered, it says nothing about the
/// service.
#[derive(Debug)]
#[must_use = "what becomes of a request is noted"]
pub struct Asked {
    name: Arc<str>,
    health: Arc<Health>,
    since: Instant,
    is_noted: bool,
}

impl Asked {
    pub(super) fn new(name: &Arc<str>, health: &Arc<Health>) -> Self {
        let (name, health) = (Arc::clone(name), Arc::clone(health));
        Self { name, health, since: Instant::now(), is_noted: false }
    }

    /// Time it has been under way.
    pub fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// The answer begins, with a word or without one.
    pub fn answered(&mut self, has_words: bool) {
        self.is_noted = true;
        self.health.answered(has_words.then(|| self.waited()));
    }

    /// It has failed, be it in the middle of the answer.
    pub fn failed(&mut self, error: &Error) {
        self.is_noted = true;
        self.health.failed(&self.name, error);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_noted {
            self.health.unclear();
        }
    }
}

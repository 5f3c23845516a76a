//! A running request to a candidate.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::Health;
use crate::provider::Error;

/// Dropped before its outcome is known, it counts neither as a success nor as a failure.
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

    pub fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// The answer has begun, with or without text.
    pub fn answered(&mut self, has_words: bool) {
        self.is_noted = true;
        self.health.answered(has_words.then(|| self.waited()));
    }

    /// The request failed, perhaps in the middle of the answer.
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

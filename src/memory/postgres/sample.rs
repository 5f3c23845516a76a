//! Word frequencies sampled by the server.
//!
//! Entry type: [`WordSample`].

use std::collections::HashMap;

use tokio::time::Instant;

/// Words and the share of lines that contain them, as sampled by the server.
pub(super) struct WordSample {
    pub(super) lines: f64,
    pub(super) shares: HashMap<String, f64>,
    /// Share of words not in the sample.
    pub(super) others: f64,
    pub(super) read: Instant,
}

impl WordSample {
    pub(super) fn share(&self, word: &str) -> f64 {
        self.shares.get(word).copied().unwrap_or(self.others)
    }
}

//! Frequency of words, as the server has sampled its lines.
//!
//! Entry type: [`WordSample`].

use std::collections::HashMap;

use tokio::time::Instant;

/// Words and the share of lines that hold them, as the server has sampled them.
pub(super) struct WordSample {
    pub(super) lines: f64,
    pub(super) shares: HashMap<String, f64>,
    /// Of words that it does not name.
    pub(super) others: f64,
    pub(super) read: Instant,
}

impl WordSample {
    pub(super) fn share(&self, word: &str) -> f64 {
        self.shares.get(word).copied().unwrap_or(self.others)
    }
}

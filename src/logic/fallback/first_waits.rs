//! Usual wait for the first word of a service.

use std::{collections::VecDeque, time::Duration};

/// Waits that are looked at, the last ones.
const RECENT: usize = 100;
/// With fewer nothing is known.
const ENOUGH: usize = 20;

/// The last waits for a first word.
#[derive(Debug, Default)]
pub struct FirstWaits(VecDeque<Duration>);

impl FirstWaits {
    /// The first word took so long.
    pub fn add(&mut self, wait: Duration) {
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(wait);
    }

    /// The 95th percentile of the waits; `None`: too few were measured.
    pub fn p95(&self) -> Option<Duration> {
        if self.0.len() < ENOUGH {
            return None;
        }
        let mut sorted: Vec<Duration> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get((sorted.len() * 95).div_ceil(100) - 1).copied()
    }
}

//! Usual time to the first word of a service.

use std::{collections::VecDeque, time::Duration};

/// Number of latest waits considered.
const RECENT: usize = 100;
/// Fewest waits for a percentile.
const ENOUGH: usize = 20;

#[derive(Debug, Default)]
pub struct FirstWaits(VecDeque<Duration>);

impl FirstWaits {
    pub fn add(&mut self, wait: Duration) {
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(wait);
    }

    /// 95th percentile; `None` with too few waits.
    pub fn p95(&self) -> Option<Duration> {
        if self.0.len() < ENOUGH {
            return None;
        }
        let mut sorted: Vec<Duration> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get((sorted.len() * 95).div_ceil(100) - 1).copied()
    }
}

//! Consecutive failures of one service in an engine, and its rest after them.

use std::time::Duration;

use tokio::time::Instant;

pub const IN_A_ROW: u32 = 3;
pub const REST: Duration = Duration::from_mins(10);

#[derive(Debug, Default)]
pub struct Trouble {
    in_a_row: u32,
    until: Option<Instant>,
    told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The first since an answer.
    First,
    /// The last before a rest.
    Rest,
}

impl Trouble {
    /// Minutes left of the rest, rounded up; `None` outside one.
    pub fn rests(&self) -> Option<u64> {
        let left = self.until?.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then(|| left.as_secs().div_ceil(60))
    }

    /// Ends the series: the service has answered.
    pub const fn is_over(&mut self) {
        self.in_a_row = 0;
        self.told = false;
        self.until = None;
    }

    /// Counts a failure; returns if it deserves a notice. One without `counts` leads to no rest.
    pub fn had(&mut self, counts: bool) -> Option<Worth> {
        self.in_a_row += u32::from(counts);
        if self.in_a_row >= IN_A_ROW {
            self.in_a_row = 0;
            self.until = Some(Instant::now() + REST);
            return Some(Worth::Rest);
        }
        (!std::mem::replace(&mut self.told, true)).then_some(Worth::First)
    }
}

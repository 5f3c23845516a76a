//! Failures in a row of one service in one part of an engine, and its rest after them.
//!
//! Entry type: [`Trouble`]. **Never**: knows why it failed, or notifies anybody.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row before a rest.
pub const IN_A_ROW: u32 = 3;
/// Length of the rest.
pub const REST: Duration = Duration::from_mins(10);

/// Recent failures.
#[derive(Debug, Default)]
pub struct Trouble {
    in_a_row: u32,
    until: Option<Instant>,
    told: bool,
}

/// A failure that is worth a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The first since an answer.
    First,
    /// The last before a rest of [`REST`].
    Rest,
}

impl Trouble {
    /// Minutes left of the rest, rounded up; `None`: it does not rest now.
    pub fn rests(&self) -> Option<u64> {
        let left = self.until?.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then(|| left.as_secs().div_ceil(60))
    }

    /// Ends it: the service has answered.
    pub const fn is_over(&mut self) {
        self.in_a_row = 0;
        self.told = false;
        self.until = None;
    }

    /// Notes a failure, and whether it is worth a notice. One that does not `count` leads to no rest.
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

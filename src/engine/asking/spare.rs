//! A candidate that is asked beside another whose first word is late.

use std::time::Duration;

use crate::{
    engine::budget::Reservation,
    provider::{Candidate, ChatModel},
};

/// A candidate in reserve. Dropped before it was asked, its money is given back.
pub struct Spare {
    candidate: Candidate<dyn ChatModel>,
    /// Money set aside for it, until it is asked.
    reserved: Option<Reservation>,
    /// Delay before it is asked.
    pub after: Duration,
}

impl Spare {
    /// `candidate` is asked after so long, and paid for by `reserved`.
    pub const fn new(
        candidate: Candidate<dyn ChatModel>,
        reserved: Reservation,
        after: Duration,
    ) -> Self {
        Self { candidate, reserved: Some(reserved), after }
    }

    /// The candidate itself.
    pub const fn candidate(&self) -> &Candidate<dyn ChatModel> {
        &self.candidate
    }

    /// The money for it, if that can be relied on by now; it is asked then.
    pub fn pay(&mut self) -> Option<Reservation> {
        self.reserved.take_if(|reserved| reserved.is_ready())
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            reserved.unused();
        }
    }
}

//! A second candidate for a request whose first answer is late.

use std::time::Duration;

use crate::{
    engine::budget::Reservation,
    provider::{Candidate, ChatModel},
};

/// A spare candidate. Its money is returned if it is never asked.
pub struct Spare {
    candidate: Candidate<dyn ChatModel>,
    reserved: Option<Reservation>,
    pub after: Duration,
}

impl Spare {
    pub const fn new(
        candidate: Candidate<dyn ChatModel>,
        reserved: Reservation,
        after: Duration,
    ) -> Self {
        Self { candidate, reserved: Some(reserved), after }
    }

    pub const fn candidate(&self) -> &Candidate<dyn ChatModel> {
        &self.candidate
    }

    /// Takes the reserved money if it is granted by now; the candidate is then asked.
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

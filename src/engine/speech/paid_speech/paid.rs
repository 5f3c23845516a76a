//! Money for a sentence that a voice has.
//!
//! Entry type: [`Paid`].

use crate::{
    engine::Reservation,
    logic::budget::Consumption,
    provider::{Kind, Pcm},
};

/// Money for a sentence. Dropping it books what was used.
pub struct Paid {
    /// `None`: settled.
    reserved: Option<Reservation>,
    used: Consumption,
}

impl Paid {
    pub fn new(reserved: Reservation) -> Self {
        let used = Consumption { seconds: 0.0, ..reserved.expected() };
        Self { reserved: Some(reserved), used }
    }

    /// Sound of the sentence has come.
    pub fn take(&mut self, pcm: &Pcm) {
        self.used.seconds += pcm.rate.duration_of(pcm.samples.len()).as_secs_f64();
    }

    /// The service failed before any sound.
    pub fn failed(mut self, kind: Kind) {
        if let Some(reserved) = self.reserved.take() {
            reserved.failed(kind);
        }
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            reserved.settle(self.used);
        }
    }
}

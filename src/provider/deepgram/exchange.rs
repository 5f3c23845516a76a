//! A table's end of a recognition: sound and names in, events out.
//!
//! Entry type: [`Exchange`]. **Never**: delays reading the service's messages for a partial.

use tokio::sync::{mpsc, watch};

use super::names::Names;
use crate::{
    audio::Frame,
    provider::{Error, SpeechEvent},
};

pub type Told = Result<SpeechEvent, Error>;

/// Queued events; partials beyond this are dropped, others wait.
pub const EVENTS: usize = 16;

pub struct Exchange {
    /// Closing it ends the utterance.
    pub sound: mpsc::Receiver<Frame>,
    pub names: watch::Receiver<Names>,
    pub events: mpsc::Sender<Told>,
    /// A handshake that failed may be retried.
    pub again: bool,
}

impl Exchange {
    pub fn names(&mut self) -> Names {
        self.names.borrow_and_update().clone()
    }

    /// Sends an event that may be lost.
    pub fn mention(&self, event: SpeechEvent) {
        // A slow table gets the next one.
        let _ = self.events.try_send(Ok(event));
    }

    /// Sends an event that must arrive.
    pub async fn tell(&self, told: Told) {
        let _ = self.events.send(told).await;
    }

    /// Appends `first` and all other queued sound to `bytes`; false at the end of the sound.
    pub fn take(&mut self, first: Option<Frame>, bytes: &mut Vec<u8>) -> bool {
        let mut next = first;
        while let Some(frame) = next {
            bytes.extend(frame.samples().iter().flat_map(|sample| sample.to_le_bytes()));
            match self.sound.try_recv() {
                Ok(frame) => next = Some(frame),
                Err(mpsc::error::TryRecvError::Empty) => return true,
                Err(mpsc::error::TryRecvError::Disconnected) => return false,
            }
        }
        false
    }
}

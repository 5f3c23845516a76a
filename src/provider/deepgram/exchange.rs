//! A table's ends of a recognition: sound and names in, events out.
//!
//! Entry type: [`Exchange`]. **Never**: holds up who reads the service's messages for a partial.

use tokio::sync::{mpsc, watch};

use super::names::Names;
use crate::{
    audio::Frame,
    provider::{Error, SpeechEvent},
};

/// An event for a table, or the error that ends the stream.
pub type Told = Result<SpeechEvent, Error>;

/// Events that wait for the table; a partial beyond them is dropped, anything else waits.
pub const EVENTS: usize = 16;

/// The table's end of one stream.
pub struct Exchange {
    /// Its sound; closing ends the utterance.
    pub sound: mpsc::Receiver<Frame>,
    /// Names that are likely to be said.
    pub names: watch::Receiver<Names>,
    /// Events for the table.
    pub events: mpsc::Sender<Told>,
}

impl Exchange {
    /// The names of now.
    pub fn names(&mut self) -> Names {
        self.names.borrow_and_update().clone()
    }

    /// Tells what may be lost.
    pub fn mention(&self, event: SpeechEvent) {
        // A table that lags behind gets the next one.
        let _ = self.events.try_send(Ok(event));
    }

    /// Tells what may not.
    pub async fn tell(&self, told: Told) {
        // A table that is gone wants to know nothing.
        let _ = self.events.send(told).await;
    }

    /// Takes the bytes of `first` and of all sound that is there besides; false: that was all.
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

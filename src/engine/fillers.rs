//! Filler lines, synthesised before they are needed.
//!
//! Entry type: [`Fillers`]. **Never**: says more than one a turn; the caller counts.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;

use super::speak::Mouth;
use crate::{audio::Frame, provider::Error};

/// A filler line, ready to be played.
#[derive(Clone)]
pub struct Filler {
    /// Its text.
    pub text: String,
    /// Its sound.
    pub frames: Arc<[Frame]>,
}

/// The filler lines of one NPC.
#[derive(Clone)]
pub struct Fillers {
    mouth: Mouth,
    lines: Arc<[String]>,
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Default)]
struct Shelf {
    ready: Option<Filler>,
    prepared: usize,
}

impl Fillers {
    /// Fillers of `mouth`.
    pub fn new(mouth: Mouth, lines: &[String]) -> Self {
        Self { mouth, lines: lines.into(), shelf: Arc::default() }
    }

    /// Synthesises the next line unless one is ready. Cancel safe.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn prepare(&self) -> Result<(), Error> {
        let next = {
            let shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            if shelf.ready.is_some() || self.lines.is_empty() {
                return Ok(());
            }
            shelf.prepared
        };
        let Some(text) = self.lines.get(next % self.lines.len()) else { return Ok(()) };
        let spoken = self.mouth.filter().next(text);
        let mut frames = Vec::new();
        let mut made = self.mouth.synthesise(&spoken)?;
        while let Some(more) = made.next().await {
            frames.extend(more?);
        }
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.ready = Some(Filler { text: text.clone(), frames: frames.into() });
        shelf.prepared = next + 1;
        Ok(())
    }

    /// The line that is ready, if one is.
    pub fn take(&self) -> Option<Filler> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).ready.take()
    }
}

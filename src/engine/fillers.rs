//! Filler lines, synthesised before they are needed.
//!
//! Entry type: [`Fillers`]. **Never**: says more than one a turn; the caller counts.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::StreamExt;

use super::speak::Mouth;
use crate::{audio::Frame, provider::Error, tools::VisibleTools};

/// A filler line, ready to be played.
#[derive(Clone)]
pub struct Filler {
    /// Its text.
    pub text: String,
    /// Its sound.
    pub frames: Arc<[Frame]>,
}

/// Whose lines they are: a tool's, by its identity, or the NPC's own.
type Owner = Option<Arc<str>>;

/// The filler lines of one NPC.
#[derive(Clone)]
pub struct Fillers {
    mouth: Mouth,
    lines: Arc<[String]>,
    shelf: Arc<Mutex<HashMap<Owner, Place>>>,
}

#[derive(Default)]
struct Place {
    ready: Option<Filler>,
    prepared: usize,
}

impl Fillers {
    /// Fillers of `mouth`.
    pub fn new(mouth: Mouth, lines: &[String]) -> Self {
        Self { mouth, lines: lines.into(), shelf: Arc::default() }
    }

    /// Synthesises the next line of the NPC and of each tool that has lines of its own, unless one
    /// is ready. Cancel safe.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn prepare(&self, tools: &VisibleTools) -> Result<(), Error> {
        self.prepare_of(None, &self.lines).await?;
        for placed in tools.iter() {
            if let Some(lines) = &placed.tool.declared.fillers {
                self.prepare_of(Some(Arc::clone(&placed.tool.identity)), lines).await?;
            }
        }
        Ok(())
    }

    async fn prepare_of(&self, owner: Owner, lines: &[String]) -> Result<(), Error> {
        let next = {
            let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            let place = shelf.entry(owner.clone()).or_default();
            if place.ready.is_some() || lines.is_empty() {
                return Ok(());
            }
            place.prepared
        };
        let Some(text) = lines.get(next % lines.len()) else { return Ok(()) };
        let spoken = self.mouth.filter().next(text);
        let mut frames = Vec::new();
        let mut made = self.mouth.synthesise(&spoken)?;
        while let Some(more) = made.next().await {
            frames.extend(more?);
        }
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let filler = Filler { text: text.clone(), frames: frames.into() };
        shelf.insert(owner, Place { ready: Some(filler), prepared: next + 1 });
        Ok(())
    }

    /// A line of `tool` that is ready, else one of the NPC's own.
    pub fn take(&self, tool: &Arc<str>) -> Option<Filler> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of = |owner: Owner| shelf.get_mut(&owner).and_then(|place| place.ready.take());
        of(Some(Arc::clone(tool))).or_else(|| of(None))
    }
}

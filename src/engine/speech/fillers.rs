//! Filler lines, synthesised before they are needed.
//!
//! Entry type: [`Fillers`]. **Never**: says more than one a turn; the caller counts.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::StreamExt;

use super::Synthesizer;
use crate::{audio::Frame, provider::Error, tools::VisibleTools};

/// A filler line, ready to be played.
#[derive(Clone)]
pub struct Filler {
    /// Its text as written.
    pub text: String,
    /// Its speech, 48 kHz mono.
    pub frames: Arc<[Frame]>,
}

/// Whose lines they are: a tool's, by its identity, or the NPC's own.
type Owner = Option<Arc<str>>;

/// The filler lines of one NPC.
#[derive(Clone)]
pub struct Fillers {
    voice: Synthesizer,
    lines: Arc<[String]>,
    prepared: Arc<Mutex<HashMap<Owner, Prepared>>>,
}

#[derive(Default)]
struct Prepared {
    ready: Option<Filler>,
    /// How many were prepared so far, which says whose turn it is.
    count: usize,
}

impl Fillers {
    /// Filler lines that `voice` speaks.
    pub fn new(voice: Synthesizer, lines: &[String]) -> Self {
        Self { voice, lines: lines.into(), prepared: Arc::default() }
    }

    /// Synthesises the next line of the NPC and of each tool that has lines of its own, unless one
    /// is ready. Cancel safe.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn prepare(&self, tools: &VisibleTools) -> Result<(), Error> {
        self.prepare_of(None, &self.lines).await?;
        for offered in tools.iter() {
            if let Some(lines) = &offered.tool.declared.fillers {
                self.prepare_of(Some(Arc::clone(&offered.tool.identity)), lines).await?;
            }
        }
        Ok(())
    }

    async fn prepare_of(&self, owner: Owner, lines: &[String]) -> Result<(), Error> {
        let next = {
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            let of_owner = prepared.entry(owner.clone()).or_default();
            if of_owner.ready.is_some() || lines.is_empty() {
                return Ok(());
            }
            of_owner.count
        };
        let Some(text) = lines.get(next % lines.len()) else { return Ok(()) };
        let spoken = self.voice.spoken_filter().next(text);
        let mut frames = Vec::new();
        let mut made = self.voice.synthesise(&spoken)?;
        while let Some(more) = made.next().await {
            frames.extend(more?);
        }
        let filler = Filler { text: text.clone(), frames: frames.into() };
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.insert(owner, Prepared { ready: Some(filler), count: next + 1 });
        Ok(())
    }

    /// A line of `tool` that is ready, else one of the NPC's own.
    pub fn take(&self, tool: &Arc<str>) -> Option<Filler> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of = |owner: Owner| prepared.get_mut(&owner).and_then(|it| it.ready.take());
        of(Some(Arc::clone(tool))).or_else(|| of(None))
    }
}

//! Filler lines, synthesised before they are needed.
//!
//! Entry type: [`Fillers`]. **Never**: says more than one a turn; the caller counts.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use tokio::time::timeout;

use super::Synthesizer;
use crate::{
    audio::Frame,
    engine::{locked::locked, occasion::Occasion},
    provider::Error,
    tools::VisibleTools,
};

/// A filler line, ready to be played.
#[derive(Clone)]
pub struct Filler {
    /// Its text as written.
    pub text: String,
    /// Its speech, 48 kHz mono.
    pub frames: Arc<[Frame]>,
}

/// Owner of the lines: a tool, by its identity, or the NPC.
type Owner = Option<Arc<str>>;

/// The filler lines of one NPC.
#[derive(Clone)]
pub struct Fillers {
    voice: Synthesizer,
    lines: Arc<[String]>,
    prepared: Arc<Mutex<HashMap<Owner, Prepared>>>,
    /// Lines that replace an answer.
    instead: Arc<Mutex<HashMap<Occasion, Filler>>>,
}

/// Longest wait for a line that is wanted before it was prepared.
const SOON: Duration = Duration::from_millis(300);
/// Like `SOON`, for lines that replace an answer.
const INSTEAD_SOON: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Prepared {
    ready: Option<Filler>,
    /// Number of lines prepared so far, which selects the next one.
    count: usize,
}

impl Fillers {
    /// Filler lines that `voice` speaks.
    pub fn new(voice: Synthesizer, lines: &[String]) -> Self {
        Self { voice, lines: lines.into(), prepared: Arc::default(), instead: Arc::default() }
    }

    /// Synthesises the next line of the NPC and of each tool that has lines of its own, unless one
    /// is ready. Cancel safe.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn prepare_tools(&self, tools: &VisibleTools) -> Result<(), Error> {
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
            let mut prepared = locked(&self.prepared);
            let of_owner = prepared.entry(owner.clone()).or_default();
            if of_owner.ready.is_some() || lines.is_empty() {
                return Ok(());
            }
            of_owner.count
        };
        let Some(text) = lines.get(next % lines.len()) else { return Ok(()) };
        let filler = self.spoken(text).await?;
        let mut prepared = locked(&self.prepared);
        prepared.insert(owner, Prepared { ready: Some(filler), count: next + 1 });
        Ok(())
    }

    async fn spoken(&self, text: &str) -> Result<Filler, Error> {
        let spoken = self.voice.spoken_filter().next(text);
        let mut frames = Vec::new();
        let mut made = self.voice.synthesise(&spoken).await?;
        while let Some(more) = made.next().await {
            frames.extend(more?);
        }
        Ok(Filler { text: text.to_owned(), frames: frames.into() })
    }

    /// Synthesises what is said in place of an answer: once it is wanted it would be too late. Cancel safe.
    ///
    /// # Errors
    /// The voice's own.
    pub async fn prepare(&self, occasion: Occasion) -> Result<(), Error> {
        if self.prepared_for(occasion).is_none() {
            let line = self.spoken(occasion.line(self.voice.language())).await?;
            let mut instead = locked(&self.instead);
            instead.insert(occasion, line);
        }
        Ok(())
    }

    /// A line that replaces an answer; without money, a paid voice has it only if it was
    /// prepared. Cancel safe.
    pub async fn instead(&self, occasion: Occasion) -> Option<Filler> {
        // A voice that is late or fails leaves a silence.
        let _ = timeout(INSTEAD_SOON, self.prepare(occasion)).await;
        self.prepared_for(occasion)
    }

    fn prepared_for(&self, occasion: Occasion) -> Option<Filler> {
        locked(&self.instead).get(&occasion).cloned()
    }

    /// A line of `tool` or of the NPC; in the first turn it may still have to be made. Cancel safe.
    pub async fn ready(&self, tool: &Arc<str>) -> Option<Filler> {
        if let Some(filler) = self.take(tool) {
            return Some(filler);
        }
        // A voice that is late or fails leaves a silence, as it would without any line.
        let _ = timeout(SOON, self.prepare_of(None, &self.lines)).await;
        self.take(tool)
    }

    /// A line of `tool` that is ready, else one of the NPC's own.
    pub fn take(&self, tool: &Arc<str>) -> Option<Filler> {
        let mut prepared = locked(&self.prepared);
        let mut of = |owner: Owner| prepared.get_mut(&owner).and_then(|it| it.ready.take());
        of(Some(Arc::clone(tool))).or_else(|| of(None))
    }
}

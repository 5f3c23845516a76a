//! Filler lines, synthesised in advance.
//!
//! Entry type: [`Fillers`]. The caller limits them to one per turn.

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
    tools::CatalogEntry,
};

#[derive(Clone)]
pub struct Filler {
    pub text: String,
    /// 48 kHz mono.
    pub frames: Arc<[Frame]>,
}

/// Owner of lines: a tool by identity, or the NPC.
type Owner = Option<Arc<str>>;

#[derive(Clone)]
pub struct Fillers {
    voice: Synthesizer,
    lines: Arc<[String]>,
    prepared: Arc<Mutex<HashMap<Owner, Prepared>>>,
    /// Lines in place of an answer.
    instead: Arc<Mutex<HashMap<Occasion, Filler>>>,
}

/// Longest wait for a line that is not prepared.
const SOON: Duration = Duration::from_millis(300);
/// Like `SOON`, for lines in place of an answer.
const INSTEAD_SOON: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Prepared {
    ready: Option<Filler>,
    /// Number of lines prepared so far; selects the next.
    count: usize,
}

impl Fillers {
    pub fn new(voice: Synthesizer, lines: &[String]) -> Self {
        Self { voice, lines: lines.into(), prepared: Arc::default(), instead: Arc::default() }
    }

    /// Prepares the next line of the NPC, and of each of its `slow` tools with lines of its own;
    /// nothing without such tools. Cancel safe.
    pub async fn prepare_tools(&self, slow: &[Arc<CatalogEntry>]) -> Result<(), Error> {
        if slow.is_empty() {
            return Ok(());
        }
        self.prepare_of(None, &self.lines).await?;
        for offered in slow {
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
        let mut made = self.voice.synthesise(&spoken);
        while let Some(more) = made.next().await {
            frames.extend(more?);
        }
        Ok(Filler { text: text.to_owned(), frames: frames.into() })
    }

    /// Prepares the line of an occasion: when needed it would be too late. Cancel safe.
    pub async fn prepare(&self, occasion: Occasion) -> Result<(), Error> {
        if self.prepared_for(occasion).is_none() {
            let line = self.spoken(occasion.line(self.voice.language())).await?;
            let mut instead = locked(&self.instead);
            instead.insert(occasion, line);
        }
        Ok(())
    }

    /// A line in place of an answer. Without money, a paid voice only has a prepared one. Cancel
    /// safe.
    pub async fn instead(&self, occasion: Occasion) -> Option<Filler> {
        // A late or failed voice leaves silence.
        let _ = timeout(INSTEAD_SOON, self.prepare(occasion)).await;
        self.prepared_for(occasion)
    }

    fn prepared_for(&self, occasion: Occasion) -> Option<Filler> {
        locked(&self.instead).get(&occasion).cloned()
    }

    /// A line of `tool` or of the NPC; synthesises one if none is prepared. Cancel safe.
    pub async fn ready(&self, tool: &Arc<str>) -> Option<Filler> {
        if let Some(filler) = self.take(tool) {
            return Some(filler);
        }
        // A late or failed voice leaves silence, as without fillers.
        let _ = timeout(SOON, self.prepare_of(None, &self.lines)).await;
        self.take(tool)
    }

    /// A prepared line of `tool`, else one of the NPC.
    pub fn take(&self, tool: &Arc<str>) -> Option<Filler> {
        let mut prepared = locked(&self.prepared);
        let mut of = |owner: Owner| prepared.get_mut(&owner).and_then(|it| it.ready.take());
        of(Some(Arc::clone(tool))).or_else(|| of(None))
    }
}

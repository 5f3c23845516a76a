//! The brains there are, and one of them with its settings.
//!
//! Entry types: [`ModelService`], [`ModelEntry`]; [`Models`] opens entries.
//! **Never**: opens a model twice; each NPC has its own script.

mod scripted;

use std::sync::Arc;

use self::scripted::{Script, Scripted};
use super::{ChatModel, Error, openai, pool::Pool, service::ServiceInfo};
use crate::domain::Npc;

/// The brains there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelService {
    /// The lines of the NPCs.
    #[default]
    Scripted,
    /// An OpenAI-compatible service.
    OpenAi,
}

impl ModelService {
    /// All of them.
    const ALL: [Self; 2] = [Self::Scripted, Self::OpenAi];
    /// Their names in files.
    pub const NAMES: &[&str] = &[scripted::NAME, openai::NAME];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scripted => scripted::NAME,
            Self::OpenAi => openai::NAME,
        }
    }
}

/// A brain with its settings.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one in a configuration")]
pub enum ModelEntry {
    /// The lines of the NPCs.
    #[default]
    Scripted,
    /// An OpenAI-compatible service.
    OpenAi(openai::Options),
}

impl ModelEntry {
    /// What it is, and where what was said goes.
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Scripted => ServiceInfo::here("written lines"),
            Self::OpenAi(options) => options.info(),
        }
    }

    /// Whether it does what any prompt says; a brain of rules does not.
    pub const fn reads_prompts(&self) -> bool {
        match self {
            Self::Scripted => false,
            Self::OpenAi(_) => true,
        }
    }

    /// Tokens of a request and its answer together, at most; `None`: nothing is counted.
    pub const fn window(&self) -> Option<u32> {
        match self {
            Self::Scripted => None,
            Self::OpenAi(options) => Some(options.context_window),
        }
    }

    /// Whether it can be used; one line for a report.
    ///
    /// # Errors
    /// Why it cannot, and the way out.
    pub async fn probe(&self) -> Result<String, Error> {
        match self {
            Self::Scripted => Ok("scripted: the lines of the NPCs, no model".to_owned()),
            Self::OpenAi(options) => openai::probe(options.clone()).await,
        }
    }
}

/// Chat models that are open.
#[derive(Default)]
pub struct Models(Pool<ModelEntry, Arc<dyn ChatModel>>);

impl Models {
    /// The brain of `npc`; `seed` picks among equal lines.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(
        &self,
        entry: &ModelEntry,
        npc: &Npc,
        seed: u64,
    ) -> Result<Arc<dyn ChatModel>, Error> {
        match entry {
            ModelEntry::Scripted => {
                Ok(Arc::new(Scripted::new(&npc.name, Arc::new(Script::new(&npc.lines)), seed)))
            }
            ModelEntry::OpenAi(options) => {
                self.0.get(entry, || Ok(Arc::new(openai::Chat::new(options.clone())?)))
            }
        }
    }

    /// Lets go of all but `wanted`.
    pub fn retain(&self, wanted: &ModelEntry) {
        self.0.retain(|entry| entry == wanted);
    }
}

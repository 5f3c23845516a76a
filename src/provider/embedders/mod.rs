//! The embedding models there are, and one of them with its settings.
//!
//! Entry types: [`EmbedderService`], [`EmbedderEntry`]; [`Embedders`] opens entries.
//! **Never**: takes vectors of two models for one space; see [`EmbedderEntry::space`].

#[cfg(feature = "minilm")]
mod minilm;

use std::{path::PathBuf, sync::Arc};

use super::{Embedder, Error, openai, pool::Pool};

/// MiniLM's name in files.
const MINILM: &str = "minilm";
/// Least likeness by MiniLM: a spoken line and the tool that fits it mostly have cosines from 0.27
/// on, others stay under 0.2.
const MINILM_THRESHOLD: f32 = 0.25;

/// The embedding models there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedderService {
    /// An OpenAI-compatible service.
    OpenAi,
    /// A small model on this machine.
    MiniLm,
}

impl EmbedderService {
    /// All of them.
    const ALL: [Self; 2] = [Self::OpenAi, Self::MiniLm];
    /// Their names in files.
    pub const NAMES: &[&str] = &[openai::NAME, MINILM];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => openai::NAME,
            Self::MiniLm => MINILM,
        }
    }

    /// Whether this build has it.
    pub const fn is_built_in(self) -> bool {
        match self {
            Self::OpenAi => true,
            Self::MiniLm => cfg!(feature = "minilm"),
        }
    }
}

/// An embedding model with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum EmbedderEntry {
    /// An OpenAI-compatible service.
    OpenAi(openai::Options),
    /// The model in this folder, on this machine.
    MiniLm(PathBuf),
}

impl EmbedderEntry {
    /// Names the space of its vectors; those of another space cannot be compared with them.
    pub fn space(&self) -> String {
        match self {
            Self::OpenAi(options) => options.model.clone(),
            Self::MiniLm(folder) => format!("{MINILM}:{}", folder.display()),
        }
    }

    /// The likeness below which two texts have nothing to do with each other, where it is known.
    pub const fn threshold(&self) -> Option<f32> {
        match self {
            Self::OpenAi(_) => None,
            Self::MiniLm(_) => Some(MINILM_THRESHOLD),
        }
    }
}

/// Embedding models that are open.
#[derive(Default)]
pub struct Embedders(Pool<EmbedderEntry, Arc<dyn Embedder>>);

impl Embedders {
    /// The model of `entry`.
    ///
    /// # Errors
    /// An address or key that makes no request, or a folder without a model.
    pub fn open(&self, entry: &EmbedderEntry) -> Result<Arc<dyn Embedder>, Error> {
        self.0.get(entry, || {
            Ok(match entry {
                EmbedderEntry::OpenAi(options) => {
                    Arc::new(openai::Embeddings::new(options.clone())?)
                }
                #[cfg(feature = "minilm")]
                EmbedderEntry::MiniLm(folder) => Arc::new(minilm::MiniLm::open(folder)?),
                #[cfg(not(feature = "minilm"))]
                EmbedderEntry::MiniLm(folder) => {
                    let what = format!("the model in '{}' is of no use here", folder.display());
                    let what = format!("{what} (build with --features minilm)");
                    return Err(Error::new(super::Kind::Missing, what));
                }
            })
        })
    }

    /// Lets go of all but `wanted`.
    pub fn retain(&self, wanted: Option<&EmbedderEntry>) {
        self.0.retain(|entry| Some(entry) == wanted);
    }
}

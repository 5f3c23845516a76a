//! The embedding models that are open.
//!
//! Entry types: [`EmbedderEntry`]; [`Embedders`] opens entries.
//! **Never**: takes vectors of two models for one space; see [`EmbedderEntry::space`].

use std::sync::Arc;

use super::{Embedder, Error, openai, pool::Pool, service::ServiceInfo};

/// An embedding model with its settings: that of an OpenAI-compatible service.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedderEntry(pub openai::Options);

impl EmbedderEntry {
    /// The model, and where what it is given goes.
    pub fn info(&self) -> ServiceInfo {
        self.0.info()
    }

    /// Names the space of its vectors; those of another space cannot be compared with them.
    pub fn space(&self) -> String {
        self.0.model.clone()
    }
}

/// Embedding models that are open.
#[derive(Default)]
pub struct Embedders(Pool<EmbedderEntry, Arc<dyn Embedder>>);

impl Embedders {
    /// The model of `entry`.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(&self, entry: &EmbedderEntry) -> Result<Arc<dyn Embedder>, Error> {
        self.0.get(entry, || Ok(Arc::new(openai::Embeddings::new(entry.0.clone())?)))
    }

    /// Lets go of all but `wanted`.
    pub fn retain(&self, wanted: Option<&EmbedderEntry>) {
        self.0.retain(|entry| Some(entry) == wanted);
    }
}

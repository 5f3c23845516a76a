//! Open embedding models.
//!
//! Entry types: [`EmbedderEntry`]; [`Embedders`] opens entries. **Never**: compares vectors of two
//! models; see [`EmbedderEntry::space`].

use std::sync::Arc;

use super::{Embedder, Error, entries::Pool, openai, service::ServiceInfo};

/// An embedding model of an OpenAI-compatible service.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedderEntry(pub openai::Options);

impl EmbedderEntry {
    pub fn info(&self) -> ServiceInfo {
        self.0.info()
    }

    /// Name of the vector space; vectors of different spaces cannot be compared.
    pub fn space(&self) -> String {
        self.0.model.clone()
    }
}

#[derive(Default)]
pub struct Embedders(Pool<EmbedderEntry, Arc<dyn Embedder>>);

impl Embedders {
    pub fn open(&self, entry: &EmbedderEntry) -> Result<Arc<dyn Embedder>, Error> {
        self.0.get(entry, || Ok(Arc::new(openai::Embeddings::new(entry.0.clone())?)))
    }

    pub fn retain(&self, wanted: Option<&EmbedderEntry>) {
        self.0.retain(|entry| Some(entry) == wanted);
    }
}

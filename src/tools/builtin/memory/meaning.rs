//! Search by meaning, or by spelling without an embedder. An embedder may be a service elsewhere.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, ready};

use crate::{
    logic::{
        content_words::ContentWords,
        trigrams::{self, DIMENSION},
    },
    provider::{Embedder, Error},
};

/// Model name stored with vectors of spelling.
const SPELLING: &str = "spelling-1";

#[derive(Clone)]
pub struct Meaning {
    /// Model name stored with the vectors.
    pub model: String,
    pub embedder: Arc<dyn Embedder>,
}

impl Meaning {
    /// Also finds other forms of words, and misheard ones.
    pub fn by_spelling() -> Self {
        Self { model: SPELLING.to_owned(), embedder: Arc::new(Spelling) }
    }

    /// True if only spelling is compared; near results may be unrelated.
    pub fn is_spelling(&self) -> bool {
        self.model == SPELLING
    }
}

/// Makes vectors of letters.
struct Spelling;

impl Embedder for Spelling {
    fn name(&self) -> &str {
        SPELLING
    }

    fn dimension(&self) -> Option<usize> {
        Some(DIMENSION)
    }

    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>> {
        let vectors = texts.iter().map(|text| trigrams::vector(ContentWords::of(text).words()));
        ready(Ok(vectors.collect())).boxed()
    }
}

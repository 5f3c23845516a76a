//! Search by meaning, which finds more than the same words.
//!
//! Entry type: [`Meaning`]. **Never**: leaves the machine by itself; an embedder may.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt, ready};

use crate::{
    logic::{
        content_words::ContentWords,
        trigrams::{self, DIMENSION},
    },
    provider::{Embedder, Error},
};

/// Model name stored with vectors by spelling.
const SPELLING: &str = "spelling-1";

/// Search by meaning, or without an embedder by spelling.
#[derive(Clone)]
pub struct Meaning {
    /// The model, as vectors are kept by.
    pub model: String,
    /// Makes the vectors of questions.
    pub embedder: Arc<dyn Embedder>,
}

impl Meaning {
    /// Finds forms of the words that are asked for, and such as were misheard.
    pub fn by_spelling() -> Self {
        Self { model: SPELLING.to_owned(), embedder: Arc::new(Spelling) }
    }

    /// True if it compares spelling alone; near results may be unrelated to a question.
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

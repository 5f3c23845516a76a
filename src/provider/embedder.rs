//! The contract of an embedding model: texts in, vectors out.
//!
//! Entry type: [`Embedder`]. **Never**: compares vectors.

use futures::future::BoxFuture;

use super::Error;

/// Turns texts into vectors whose angles say how near their meanings are.
pub trait Embedder: Send + Sync {
    /// Short name for logs and reports ("openai").
    fn name(&self) -> &str;

    /// Length of its vectors; `None` until the first was made.
    fn dimension(&self) -> Option<usize>;

    /// One vector a text, in their order, all of the same length, not necessarily of length one.
    /// Cancel safe.
    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>>;
}

//! The contract of an embedding model: texts in, vectors out.
//!
//! Entry type: [`Embedder`]. **Never**: compares vectors.

use futures::future::BoxFuture;

use super::Error;

pub trait Embedder: Send + Sync {
    /// Short name for logs and reports ("openai").
    fn name(&self) -> &str;

    /// Length of its vectors; `None` before the first answer.
    fn dimension(&self) -> Option<usize>;

    /// Returns one vector per text, in order, all of one length, not normalised. Cancel safe.
    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>>;
}

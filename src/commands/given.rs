//! A file that is given to a command.
//!
//! Entry type: [`GivenFile`]. **Never**: knows where it lies.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::text::Refusal;

/// Content of a file, once it is read.
pub type Content = BoxFuture<'static, Result<Vec<u8>, Refusal>>;

/// A file that is given to a command: attached, or named by its path.
#[derive(Clone)]
pub struct GivenFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes, where the face knows it.
    pub size: Option<u64>,
    read: Arc<dyn Fn() -> Content + Send + Sync>,
}

impl GivenFile {
    /// A file of this name, which `read` reads.
    pub fn new(
        name: impl Into<String>,
        size: Option<u64>,
        read: impl Fn() -> Content + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), size, read: Arc::new(read) }
    }

    /// Its content.
    ///
    /// # Errors
    /// The future's: it cannot be read.
    pub fn content(&self) -> Content {
        (self.read)()
    }
}

impl fmt::Debug for GivenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GivenFile").field(&self.name).finish()
    }
}

//! Answers and errors of a store.

use futures::future::BoxFuture;

/// Error of a request, which then had no effect, with one exception: a deletion that fails with
/// [`Error::Away`] may have left words in a log and must be requested again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Unreachable, or the disk is full; the same request may work later.
    #[error("the memory cannot be reached: {0}")]
    Away(String),
    #[error(
        "the memory has schema {found}, and this glyphoxa knows {known} (update glyphoxa, or point \
         'memory' elsewhere)"
    )]
    Newer { found: u32, known: u32 },
    /// A step of its schema differs from the one in this program.
    #[error(
        "schema step {0} of the memory was not made by a released glyphoxa (restore a backup, or \
         point 'memory' elsewhere)"
    )]
    Foreign(u32),
    #[error("the memory failed: {0} (this is a fault of glyphoxa; please report it)")]
    Failed(String),
    #[error("the memory is damaged: {0} (restore a backup, or move its file away to start over)")]
    Damaged(String),
    #[error("{0}")]
    Asked(String),
}

impl Error {
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

/// Answer of a store. Dropping it does not cancel the request: a write may still happen, as a
/// whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

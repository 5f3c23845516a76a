//! Errors of a store.

/// Error of a request. Nothing of the request has been carried out, with one exception: a deletion that fails
/// with [`Error::Away`] may have left its words in a log, and must be requested again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be reached, or its disk is full; the same request may work later.
    #[error("the memory cannot be reached: {0}")]
    Away(String),
    /// A newer program has written it.
    #[error(
        "the memory has schema {found}, and this glyphoxa knows {known} (update glyphoxa, or point \
         'memory' elsewhere)"
    )]
    Newer {
        /// The version of the schema that was found.
        found: u32,
        /// The newest version this program knows.
        known: u32,
    },
    /// A step of its schema is not the one this program knows.
    #[error(
        "schema step {0} of the memory was not made by a released glyphoxa (restore a backup, or \
         point 'memory' elsewhere)"
    )]
    Foreign(u32),
    /// It fails in a way that is a fault of this program.
    #[error("the memory failed: {0} (this is a fault of glyphoxa; please report it)")]
    Failed(String),
    /// It holds data that was never written to it.
    #[error("the memory is damaged: {0} (restore a backup, or move its file away to start over)")]
    Damaged(String),
    /// The request makes no sense.
    #[error("{0}")]
    Asked(String),
}

impl Error {
    /// True if the same request may work later.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

//! What keeps a store from answering.

/// Why the store did not do what it was asked; nothing of it was done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be reached, or its disk takes nothing; the same may work later.
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
        /// The newest known one.
        known: u32,
    },
    /// A step of its schema is not the one this program knows.
    #[error(
        "schema step {0} of the memory was not made by a released glyphoxa (restore a backup, or \
         point 'memory' elsewhere)"
    )]
    Foreign(u32),
    /// It does what it was not written to do.
    #[error("the memory failed: {0} (this is a fault of glyphoxa; please report it)")]
    Failed(String),
    /// It holds what it cannot have been given.
    #[error("the memory is damaged: {0} (restore a backup, or move its file away to begin anew)")]
    Damaged(String),
    /// What was asked cannot be.
    #[error("{0}")]
    Asked(String),
}

impl Error {
    /// Whether the same may work later.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

//! Failures of showing or deleting a person's data. Entry type: [`PrivacyError`].

use tokio::task::JoinError;

use super::files::Unforgotten;
use crate::{
    campaign::{NotSaved, NotWritten},
    memory,
    panics::Panicked,
};

/// Why a person's stored data cannot be shown or forgotten. Contains no words of people.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyError {
    /// The last lines are not in the store.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// A closed session is not saved yet.
    #[error(transparent)]
    NotSaved(#[from] NotSaved),
    /// Files of stored sessions cannot be read or written.
    #[error(transparent)]
    Kept(#[from] Unforgotten),
    /// The task that changed the files has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
    /// The program is shutting down.
    #[error("the bot is shutting down (the next start continues)")]
    Ended,
    #[error(transparent)]
    Fault(#[from] Panicked),
}

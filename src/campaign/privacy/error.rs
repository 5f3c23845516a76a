//! Reasons a person's stored data cannot be shown or forgotten.
//!
//! Entry type: [`PrivacyError`]. **Never**: holds words of people.

use tokio::task::JoinError;

use super::files::Unforgotten;
use crate::{
    campaign::{NotSaved, NotWritten},
    memory,
    panics::Panicked,
};

/// Reason a person's stored data cannot be shown or forgotten.
#[derive(Debug, thiserror::Error)]
pub enum PrivacyError {
    /// The last lines would be missed.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// A closed session is not saved yet.
    #[error(transparent)]
    NotSaved(#[from] NotSaved),
    /// Files of kept sessions cannot be read or written.
    #[error(transparent)]
    Kept(#[from] Unforgotten),
    /// The task that went through the files has failed.
    #[error(transparent)]
    Lost(#[from] JoinError),
    /// The program ends.
    #[error("the bot is shutting down (the next start continues)")]
    Ended,
    /// Something has panicked.
    #[error(transparent)]
    Fault(#[from] Panicked),
}

//! Errors of recaps.
//!
//! Entry type: [`RecapError`].

use crate::{campaign::NotWritten, memory, provider};

/// Reason a recap cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RecapError {
    /// It would lack the last lines.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// The memory cannot be read or written.
    #[error(transparent)]
    Store(#[from] memory::Error),
    /// The chat model cannot be asked.
    #[error(transparent)]
    Model(#[from] provider::Error),
    /// The chat model gave none, and why.
    #[error("{0}")]
    NoAnswer(String),
    /// No such session.
    #[error("this server has no session '{0}'")]
    Unknown(String),
    /// No session at all.
    #[error("this server has no sessions yet (start one: /session start)")]
    Nothing,
    /// The session went while it was read.
    #[error("the session '{0}' was deleted just now")]
    Deleted(String),
}

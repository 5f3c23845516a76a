use crate::{campaign::NotWritten, memory, provider};

#[derive(Debug, thiserror::Error)]
pub enum RecapError {
    /// The last lines are not in the store.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    #[error(transparent)]
    Store(#[from] memory::Error),
    #[error(transparent)]
    Model(#[from] provider::Error),
    /// The chat model's reason for no recap.
    #[error("{0}")]
    NoAnswer(String),
    #[error("this server has no session '{0}'")]
    Unknown(String),
    #[error("this server has no sessions yet (start one: /session start)")]
    Nothing,
    /// The session was deleted while it was read.
    #[error("the session '{0}' was deleted just now")]
    Deleted(String),
}

//! Starting workflows for schedules. Entry trait: [`Starts`].

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::{domain::Scope, logic::workflow::record::Starter};

/// A run to be started.
pub struct Start {
    pub scope: Scope,
    pub workflow: String,
    /// An object.
    pub inputs: Value,
    /// A program made the schedule: the inputs may include words of others.
    pub outside: bool,
    pub starter: Starter,
    /// Notifies the game master.
    pub tell: Tell,
}

/// Notifies the game master of a scope, with or without a session.
pub type Tell = Arc<dyn Fn(String) + Send + Sync>;

/// Reason why nothing was started or said, with the fix.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStarted {
    #[error("no session is running (start one before that time)")]
    NoSession,
    #[error("an X-card was used (/npc unmuteall lets everyone speak again)")]
    Card,
    #[error("{0} is muted (use /npc unmute)")]
    Muted(String),
    #[error("{0} is not at the table")]
    Absent(String),
    #[error("{0}")]
    Refused(String),
}

/// Starts workflows.
pub trait Starts: Send + Sync {
    /// Starts a run, which its service then owns, records and reports; resolves once it has begun.
    fn start(&self, start: Start) -> BoxFuture<'static, Result<(), NotStarted>>;
}

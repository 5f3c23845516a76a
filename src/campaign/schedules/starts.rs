//! What starts workflows for schedules. Entry trait: [`Starts`].

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use serde_json::Value;

use crate::{domain::Scope, logic::workflow::record::Starter};

/// A run to be started.
pub struct Start {
    pub scope: Scope,
    pub workflow: String,
    /// An object.
    pub inputs: Value,
    pub starter: Starter,
}

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
    /// Starts a run, which its service then owns and records; resolves once it has begun.
    fn start(&self, start: Start) -> BoxFuture<'static, Result<(), NotStarted>>;
}

/// For programs that run no workflows.
pub struct NoWorkflows;

impl Starts for NoWorkflows {
    fn start(&self, start: Start) -> BoxFuture<'static, Result<(), NotStarted>> {
        let Start { workflow, .. } = start;
        let why = format!("this program runs no workflows, so not '{workflow}' either");
        ready(Err(NotStarted::Refused(why))).boxed()
    }
}

//! One tool call as the call log keeps it.
//!
//! Entry type: [`CallRecord`]. **Never**: holds a value whose key marks it as secret.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::CallOutput;
use crate::domain::{CallId, Tier, ToolCall, redact};

/// A finished call.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// The model's id for it.
    pub id: CallId,
    /// Tool identity, or the requested name of an unknown tool.
    pub tool: Arc<str>,
    /// Arguments as called, secrets replaced; `Null` when they were no JSON.
    pub arguments: Value,
    /// The result, or the reason of its failure.
    pub result: Result<CallOutput, CallError>,
    /// The text the model reads.
    pub for_model: String,
    /// True if it includes words from outside.
    pub outside: bool,
    /// True if its result is secret from some.
    pub secret: bool,
    /// Time from the model's call to the result, waits included.
    pub took: Duration,
    /// Tier of the tool when it was called; `None`: unknown tool.
    pub tier: Option<Tier>,
    /// True if the result is cached from an earlier call.
    pub cached: bool,
    /// Attempts; zero for a call that was refused or answered from the cache.
    pub attempts: u32,
    /// True if its result comes later, in a turn of its own.
    pub pending: bool,
}

impl CallRecord {
    /// The record of a call that never went out.
    pub fn refused(tool: Arc<str>, call: &ToolCall, error: CallError) -> Self {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        Self {
            id: call.id.clone(),
            tool,
            arguments: redact::json(&arguments),
            for_model: format!("error: {error}"),
            outside: false,
            secret: false,
            result: Err(error),
            took: Duration::ZERO,
            tier: None,
            cached: false,
            attempts: 0,
            pending: false,
        }
    }
}

/// Error of a call without a result; its text is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The kind, for the log and for counting.
    pub kind: CallErrorKind,
    /// The error and its fix.
    pub message: String,
    /// The message may include words from outside.
    pub outside: bool,
}

impl CallError {
    /// An error of `kind` with its text for the model.
    pub fn new(kind: CallErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), outside: false }
    }

    /// Marks the message as possibly containing words from outside.
    #[must_use]
    pub fn from_outside(self) -> Self {
        Self { outside: true, ..self }
    }
}

/// Kinds of failed calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallErrorKind {
    /// No such tool.
    NotFound,
    /// It exists, but not for this NPC at this tier.
    NotVisible,
    /// The arguments do not fit.
    InvalidArguments,
    /// The result does not fit what the tool declares.
    InvalidResult,
    /// It did not end in time.
    Timeout,
    /// The server is away, or failed by itself.
    Connection,
    /// The server wants to be asked less often.
    RateLimited,
    /// The game master said no.
    Denied,
    /// The game master said nothing.
    Expired,
    /// A limit of the NPC's policy.
    Policy,
    /// The server broke the protocol.
    Protocol,
    /// The tool itself refused.
    Tool,
    /// The turn ended first.
    Cancelled,
}

impl CallErrorKind {
    /// The word used in logs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotVisible => "not_visible",
            Self::InvalidArguments => "invalid_arguments",
            Self::InvalidResult => "invalid_result",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::RateLimited => "rate_limited",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Policy => "policy",
            Self::Protocol => "protocol",
            Self::Tool => "tool_error",
            Self::Cancelled => "cancelled",
        }
    }

    /// True if calling again may help.
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::Timeout | Self::Connection | Self::RateLimited)
    }

    /// True if it counts as a fault of the tool.
    pub const fn is_fault(self) -> bool {
        matches!(
            self,
            Self::Timeout
                | Self::Connection
                | Self::RateLimited
                | Self::InvalidResult
                | Self::Protocol
        )
    }
}

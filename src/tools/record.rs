//! One tool call as logged. **Never**: holds a value whose key marks it as secret.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::CallOutput;
use crate::domain::{CallId, Tier, ToolCall, redact};

#[derive(Clone, Debug)]
pub struct CallRecord {
    pub id: CallId,
    /// Identity, or the requested name of an unknown tool.
    pub tool: Arc<str>,
    pub named_by: NamedBy,
    /// Address of the MCP server that was to answer, without credentials.
    pub server: Option<Arc<str>>,
    /// Redacted arguments; `Null` if they were not JSON.
    pub arguments: Value,
    pub result: Result<CallOutput, CallError>,
    pub for_model: String,
    /// It includes outside words.
    pub outside: bool,
    /// Some may not see the result.
    pub secret: bool,
    /// Time from the model's call to the result, waits included.
    pub took: Duration,
    pub tier: Option<Tier>,
    /// Taken from the cache.
    pub cached: bool,
    /// Zero for a refused or cached call.
    pub attempts: u32,
    /// The result comes later, in a turn of its own.
    pub pending: bool,
}

/// Origin of a called tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// The operator, who installed it for everyone.
    Operator,
    /// A game master, who added its server.
    Owner,
    /// The model: it was offered no such tool, so the name may be anyone's words.
    Model,
}

impl CallRecord {
    /// The record of a call that was not sent.
    pub fn refused(tool: Arc<str>, call: &ToolCall, error: CallError) -> Self {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        Self {
            id: call.id.clone(),
            tool,
            named_by: NamedBy::Model,
            server: None,
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

/// Error of a call, with its text for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// Kind, for logging and counting.
    pub kind: CallErrorKind,
    /// The error and its fix.
    pub message: String,
    /// The message may include outside words.
    pub outside: bool,
}

impl CallError {
    /// `message` is for the model.
    pub fn new(kind: CallErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), outside: false }
    }

    /// Marks the message as outside words.
    #[must_use]
    pub fn from_outside(self) -> Self {
        Self { outside: true, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallErrorKind {
    NotFound,
    /// It exists, but not for this NPC at this tier.
    NotVisible,
    InvalidArguments,
    /// The result does not match the output schema.
    InvalidResult,
    /// The call ran out of time.
    Timeout,
    /// The server is disconnected or failed.
    Connection,
    /// The server rate-limits us.
    RateLimited,
    /// The game master declined.
    Denied,
    /// The game master did not answer.
    Expired,
    /// A limit of the NPC's policy.
    Policy,
    Protocol,
    /// The tool reported an error.
    Tool,
    /// The turn ended first.
    Cancelled,
}

impl CallErrorKind {
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

    /// True if a retry may help.
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::Timeout | Self::Connection | Self::RateLimited)
    }

    /// True if it counts as the tool's fault.
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

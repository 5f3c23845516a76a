//! One tool call as the call log keeps it.

use std::time::Duration;

use serde_json::Value;

use crate::domain::CallId;

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct CallOutput {
    /// The value, as its output schema says.
    pub value: Value,
}

/// A finished call.
#[derive(Clone, Debug)]
pub struct CallRecord {
    /// The model's id for it.
    pub id: CallId,
    /// Tool identity, or the name asked for when there is no such tool.
    pub tool: String,
    /// Arguments as parsed; `Null` when they were no JSON.
    pub arguments: Value,
    /// The answer or the reason there is none.
    pub result: Result<CallOutput, CallError>,
    /// Wall time.
    pub took: Duration,
}

impl CallRecord {
    /// The text the model reads.
    pub fn for_model(&self) -> String {
        match &self.result {
            Ok(output) => output.value.to_string(),
            Err(error) => format!("error: {error}"),
        }
    }
}

/// Why a call has no result; its text is for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The kind, for the log and for counting.
    pub kind: CallErrorKind,
    /// What was wrong and what to do instead.
    pub message: String,
}

impl CallError {
    /// An error of `kind` with its text for the model.
    pub fn new(kind: CallErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
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
    /// It took too long.
    Timeout,
    /// A limit of the NPC's policy.
    Policy,
    /// The turn ended first.
    Cancelled,
    /// The tool itself refused.
    Tool,
}

impl CallErrorKind {
    /// The word used in logs and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotVisible => "not_visible",
            Self::InvalidArguments => "invalid_arguments",
            Self::Timeout => "timeout",
            Self::Policy => "policy",
            Self::Cancelled => "cancelled",
            Self::Tool => "tool_error",
        }
    }
}

//! Errors of providers, by kind.

use std::time::Duration;

/// An error of an outside service. [`Error::kind`] decides what happens next.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: Kind,
    message: String,
}

/// Kinds of failure, from status and type, never from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A package or model file is not installed.
    Missing,
    Unauthorized,
    RateLimited {
        retry_after: Option<Duration>,
    },
    /// Too many concurrent requests.
    Crowded {
        retry_after: Option<Duration>,
    },
    InvalidRequest,
    Timeout,
    Unreachable,
    Unavailable,
    /// The answer stopped in the middle.
    Interrupted,
    /// The answer was not understood.
    Protocol,
    /// The budget is spent, or cannot be recorded.
    OverBudget,
}

impl Error {
    /// `message` is lowercase and names the fix.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub const fn kind(&self) -> Kind {
        self.kind
    }
}

impl Kind {
    /// True if the service accepted the request, which may then be billed.
    pub const fn may_be_billed(self) -> bool {
        matches!(self, Self::Timeout | Self::Unavailable | Self::Interrupted | Self::Protocol)
    }

    /// False where another service would fail too.
    pub const fn falls_over(self) -> bool {
        !matches!(self, Self::InvalidRequest | Self::OverBudget)
    }

    /// True if the request may succeed when sent again, before anything was received.
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Crowded { .. }
                | Self::Timeout
                | Self::Unreachable
                | Self::Unavailable
        )
    }
}

//! Errors of providers, by kind.

use std::time::Duration;

/// An error of an outside service; [`Error::kind`] decides what happens next.
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
    /// The key was refused.
    Unauthorized,
    /// Too many requests; the service may have said how long to wait.
    RateLimited {
        /// Wait that the service asks for.
        retry_after: Option<Duration>,
    },
    /// Too many requests at once: the service answers those that are under way.
    Crowded {
        /// Wait that the service asks for.
        retry_after: Option<Duration>,
    },
    /// The request itself was refused.
    InvalidRequest,
    /// The service did not answer in time.
    Timeout,
    /// No connection could be made.
    Unreachable,
    /// The service failed.
    Unavailable,
    /// The answer stopped in the middle.
    Interrupted,
    /// The answer was not understood.
    Protocol,
    /// The money is spent, or cannot be written down.
    OverBudget,
}

impl Error {
    /// An error of `kind`; `message` is lowercase and names the way out.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Kind of the failure.
    pub const fn kind(&self) -> Kind {
        self.kind
    }
}

impl Kind {
    /// True if a request that failed so may have been billed: it was taken in, and what became of it is
    /// not known.
    pub const fn may_be_billed(self) -> bool {
        matches!(self, Self::Timeout | Self::Unavailable | Self::Interrupted | Self::Protocol)
    }

    /// True if another service may do what this one could not: a request that is wrong is wrong everywhere,
    /// and a cap is no service's.
    pub const fn falls_over(self) -> bool {
        !matches!(self, Self::InvalidRequest | Self::OverBudget)
    }

    /// True if the same request may succeed when sent again before anything was received.
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

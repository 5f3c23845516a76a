//! Record of a service's recent answers, shared by all its callers.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    logic::fallback::{Breaker, FirstWaits, Outcome},
    provider::{Error, Kind},
};

/// Record of a service's recent answers.
#[derive(Debug, Default)]
pub struct Health(Mutex<Record>);

#[derive(Debug, Default)]
struct Record {
    breaker: Breaker,
    waits: FirstWaits,
    /// News for the game master, not taken yet.
    news: Option<String>,
}

impl Health {
    pub(super) fn lets_through(&self) -> bool {
        self.known().breaker.lets_through(now())
    }

    pub(super) fn rest(&self) -> Option<Duration> {
        self.known().breaker.rest(now())
    }

    pub(super) fn usual_wait(&self) -> Option<Duration> {
        self.known().waits.p95()
    }

    pub(super) fn news(&self) -> Option<String> {
        self.known().news.take()
    }

    /// It has answered, with its first word after so long if it said any.
    pub(super) fn answered(&self, wait: Option<Duration>) {
        let mut known = self.known();
        known.breaker.note(Outcome::Answered, now());
        if let Some(wait) = wait {
            known.waits.add(wait);
        }
    }

    /// The one that is called `name` could not do what it was asked.
    pub(super) fn failed(&self, name: &str, error: &Error) {
        let mut known = self.known();
        if known.breaker.note(outcome(error.kind()), now()) {
            tracing::warn!(service = name, %error, "a service rejects our requests");
            known.news = Some(format!("{name} is disabled until its settings change: {error}"));
        }
        if let Some(rest) = known.breaker.rest(now()) {
            tracing::debug!(service = name, ?rest, "a service is left alone");
        }
    }

    /// Nothing is known of what became of a request.
    pub(super) fn unclear(&self) {
        self.known().breaker.note(Outcome::Unclear, now());
    }

    /// Held for a look, never across an await.
    fn known(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Effect of a failure on the health of the service.
fn outcome(kind: Kind) -> Outcome {
    match kind {
        Kind::Unauthorized => Outcome::Refused,
        Kind::RateLimited { retry_after: Some(wait) } => Outcome::Limited(wait),
        Kind::Crowded { .. } | Kind::InvalidRequest | Kind::OverBudget => Outcome::Unclear,
        Kind::RateLimited { retry_after: None }
        | Kind::Missing
        | Kind::Timeout
        | Kind::Unreachable
        | Kind::Unavailable
        | Kind::Interrupted
        | Kind::Protocol => Outcome::Failed,
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

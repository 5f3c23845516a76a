//! Recent answers of a service, shared by all its callers.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    logic::fallback::{Breaker, FirstWaits, Outcome},
    provider::{Error, Kind, NamedEntry, entries::Pool},
};

#[derive(Debug, Default)]
pub struct Health(Mutex<Record>);

#[derive(Debug, Default)]
struct Record {
    breaker: Breaker,
    waits: FirstWaits,
    /// Unread news for the game master.
    news: Option<String>,
}

impl Health {
    pub(super) fn lets_through(&self) -> bool {
        self.known().breaker.lets_through(now())
    }

    /// Remaining rest; `None`: it may be asked.
    pub(in crate::provider) fn rest(&self) -> Option<Duration> {
        self.known().breaker.rest(now())
    }

    pub(super) fn usual_wait(&self) -> Option<Duration> {
        self.known().waits.p95()
    }

    pub(super) fn news(&self) -> Option<String> {
        self.known().news.take()
    }

    /// `wait`: time to the first word, if it had text.
    pub(super) fn answered(&self, wait: Option<Duration>) {
        let mut known = self.known();
        known.breaker.note(Outcome::Answered, now());
        if let Some(wait) = wait {
            known.waits.add(wait);
        }
    }

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

    pub(super) fn unclear(&self) {
        self.known().breaker.note(Outcome::Unclear, now());
    }

    /// Held briefly, never across an await.
    fn known(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Clone + PartialEq> Pool<NamedEntry<E>, Arc<Health>> {
    /// `entries` by name; true: left alone after failures.
    pub fn breakers(&self, entries: &[NamedEntry<E>]) -> Vec<(String, bool)> {
        let is_open = |named: &NamedEntry<E>| {
            let health = self.get(named, || Ok(Arc::default()));
            health.is_ok_and(|it| it.rest().is_some())
        };
        entries.iter().map(|named| (named.name.clone(), is_open(named))).collect()
    }
}

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

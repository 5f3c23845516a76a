//! Services of one kind in order of preference, each behind a circuit breaker.
//!
//! A [`Queue`] holds the candidates of one request. [`Queue::take`] passes over those whose breaker
//! is open; if all are, it returns the one whose rest ends first. The caller sends and pays for
//! each request, and reports its outcome to [`Asked`], which records it in the candidate's
//! [`Health`], shared by all tables.
//!
//! The breaker (`logic/fallback/`) opens after 3 failures within 30 s, or more than 5 in the last
//! 10 requests. After 5 s one trial request closes it again or doubles the rest, up to 2 minutes. A
//! service may ask for a rest itself, up to the same limit. A refused key opens it until the entry
//! changes, and the game master is notified once. Invalid, unaffordable and dropped requests don't
//! count.
//!
//! In a hedged chain the next service is asked too once the first word is later than the 95th
//! percentile of the service's last 100 waits; fewer than 20 are too few to tell.
//!
//! Entry types: [`Chain`], made by the registry; [`Queue`]; [`Asked`].

mod candidate;
mod health;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

pub use self::{
    candidate::{Asked, Candidate, Queue},
    health::Health,
};

/// At least one service. Cloning shares them.
pub struct Chain<S: ?Sized> {
    candidates: Arc<[Candidate<S>]>,
    is_hedged: bool,
}

impl<S: ?Sized> Chain<S> {
    /// `is_hedged`: the next service is asked too when the first word is late.
    pub fn new(first: Candidate<S>, others: Vec<Candidate<S>>, is_hedged: bool) -> Self {
        Self { candidates: std::iter::once(first).chain(others).collect(), is_hedged }
    }

    /// `candidates` in order of preference; `None`: the list is empty. `is_hedged`: as in
    /// [`Self::new`].
    pub fn in_order(candidates: Vec<Candidate<S>>, is_hedged: bool) -> Option<Self> {
        (!candidates.is_empty()).then(|| Self { candidates: candidates.into(), is_hedged })
    }

    /// One service with its own health, for tests and benches.
    pub fn of(name: &str, service: Arc<S>) -> Self {
        Self::new(Candidate::new(name, service, Arc::default()), Vec::new(), false)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Candidate<S>> {
        self.candidates.iter()
    }

    /// Candidates that `wanted` accepts; `None`: it accepts none.
    pub fn only(&self, wanted: impl Fn(&S) -> bool) -> Option<Self> {
        let picked = self.iter().filter(|it| wanted(it.service())).cloned();
        Self::in_order(picked.collect(), self.is_hedged)
    }

    #[must_use]
    pub fn first(&self) -> Self {
        Self { candidates: self.candidates.iter().take(1).cloned().collect(), is_hedged: false }
    }

    pub fn is_alone(&self) -> bool {
        self.candidates.len() == 1
    }

    pub const fn is_hedged(&self) -> bool {
        self.is_hedged
    }

    pub fn queue(&self) -> Queue<S> {
        Queue::new(self.candidates.iter().cloned())
    }

    /// Candidates for a request that the one named `failed` cannot end.
    pub fn queue_after(&self, failed: &str) -> Queue<S> {
        let others = self.iter().filter(|it| &**it.name() != failed).cloned();
        Queue::after_another(others)
    }

    /// The candidate that a request would begin with now.
    pub fn next_asked(&self) -> Option<&Candidate<S>> {
        self.iter().min_by_key(|it| it.rest().map(|rest| (true, rest)).unwrap_or_default())
    }

    pub fn news(&self) -> Vec<String> {
        self.iter().filter_map(Candidate::news).collect()
    }
}

impl<S: ?Sized> Clone for Chain<S> {
    fn clone(&self) -> Self {
        Self { candidates: Arc::clone(&self.candidates), is_hedged: self.is_hedged }
    }
}

impl<S: ?Sized> fmt::Debug for Chain<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Candidate::name)).finish()
    }
}

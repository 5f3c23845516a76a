//! A service of a chain, a running request to it, and the candidates of one request.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::Health;
use crate::provider::Error;

pub struct Candidate<S: ?Sized> {
    name: Arc<str>,
    service: Arc<S>,
    health: Arc<Health>,
}

impl<S: ?Sized> Candidate<S> {
    pub fn new(name: &str, service: Arc<S>, health: Arc<Health>) -> Self {
        Self { name: name.into(), service, health }
    }

    pub const fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub const fn service(&self) -> &Arc<S> {
        &self.service
    }

    /// Starts a request; `None`: the service rests, or a trial is running.
    pub fn ask(&self) -> Option<Asked> {
        self.health.lets_through().then(|| Asked::new(&self.name, &self.health))
    }

    pub fn ask_anyway(&self) -> Asked {
        Asked::new(&self.name, &self.health)
    }

    /// Remaining rest; `None`: it may be asked.
    pub fn rest(&self) -> Option<Duration> {
        self.health.rest()
    }

    /// 95th percentile of the waits for its first words; `None`: too few waits.
    pub fn usual_wait(&self) -> Option<Duration> {
        self.health.usual_wait()
    }

    pub(super) fn news(&self) -> Option<String> {
        self.health.news()
    }
}

impl<S: ?Sized> Clone for Candidate<S> {
    fn clone(&self) -> Self {
        let (service, health) = (Arc::clone(&self.service), Arc::clone(&self.health));
        Self { name: Arc::clone(&self.name), service, health }
    }
}

/// Dropped before its outcome is known, it counts neither as a success nor as a failure.
#[derive(Debug)]
#[must_use = "what becomes of a request is noted"]
pub struct Asked {
    name: Arc<str>,
    health: Arc<Health>,
    since: Instant,
    is_noted: bool,
}

impl Asked {
    fn new(name: &Arc<str>, health: &Arc<Health>) -> Self {
        let (name, health) = (Arc::clone(name), Arc::clone(health));
        Self { name, health, since: Instant::now(), is_noted: false }
    }

    pub fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// The answer has begun, with or without text.
    pub fn answered(&mut self, has_words: bool) {
        self.is_noted = true;
        self.health.answered(has_words.then(|| self.waited()));
    }

    /// The request failed, perhaps in the middle of the answer.
    pub fn failed(&mut self, error: &Error) {
        self.is_noted = true;
        self.health.failed(&self.name, error);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_noted {
            self.health.unclear();
        }
    }
}

pub struct Queue<S: ?Sized> {
    waiting: VecDeque<Candidate<S>>,
    resting: Vec<Candidate<S>>,
    has_asked: bool,
}

impl<S: ?Sized> Queue<S> {
    pub(super) fn new(candidates: impl Iterator<Item = Candidate<S>>) -> Self {
        Self { waiting: candidates.collect(), resting: Vec::new(), has_asked: false }
    }

    /// Passes over all that rest, because another service was asked before.
    pub(super) fn after_another(candidates: impl Iterator<Item = Candidate<S>>) -> Self {
        Self { has_asked: true, ..Self::new(candidates) }
    }

    /// Starts a request to the next candidate.
    pub fn take(&mut self) -> Option<(Candidate<S>, Asked)> {
        while let Some(candidate) = self.waiting.pop_front() {
            if let Some(asked) = candidate.ask() {
                self.has_asked = true;
                return Some((candidate, asked));
            }
            self.resting.push(candidate);
        }
        if self.has_asked {
            return None;
        }
        self.has_asked = true;
        let rest = |candidate: &Candidate<S>| candidate.rest().unwrap_or(Duration::ZERO);
        let soonest = (0..self.resting.len()).min_by_key(|at| self.resting.get(*at).map(rest))?;
        let candidate = self.resting.remove(soonest);
        let asked = candidate.ask().unwrap_or_else(|| candidate.ask_anyway());
        Some((candidate, asked))
    }

    /// Removes the next candidate, to be asked beside another one. [`Self::put_back`] returns it.
    pub fn spare(&mut self) -> Option<Candidate<S>> {
        let at = self.waiting.iter().position(|candidate| candidate.rest().is_none())?;
        self.waiting.remove(at)
    }

    pub fn put_back(&mut self, spare: Candidate<S>) {
        self.waiting.push_front(spare);
    }

    pub fn has_more(&self) -> bool {
        self.waiting.iter().any(|candidate| candidate.rest().is_none())
    }

    pub fn resting(&self) -> impl Iterator<Item = &Candidate<S>> {
        self.resting.iter()
    }
}

//! Candidates of one request.

use std::{collections::VecDeque, time::Duration};

use super::{Asked, Candidate};

pub struct Queue<S: ?Sized> {
    waiting: VecDeque<Candidate<S>>,
    resting: Vec<Candidate<S>>,
    has_asked: bool,
}

impl<S: ?Sized> Queue<S> {
    pub(super) fn new(candidates: impl Iterator<Item = Candidate<S>>) -> Self {
        Self { waiting: candidates.collect(), resting: Vec::new(), has_asked: false }
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

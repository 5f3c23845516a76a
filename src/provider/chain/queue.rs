//! Candidates for one request, one after the other.

use std::{collections::VecDeque, time::Duration};

use super::{Asked, Candidate};

/// The candidates that have not been asked for one request. Those that rest are passed over; where all
/// do, the one whose rest ends first is asked all the same, for there is nobody else.
pub struct Queue<S: ?Sized> {
    waiting: VecDeque<Candidate<S>>,
    resting: Vec<Candidate<S>>,
    has_asked: bool,
}

impl<S: ?Sized> Queue<S> {
    pub(super) fn new(candidates: impl Iterator<Item = Candidate<S>>) -> Self {
        Self { waiting: candidates.collect(), resting: Vec::new(), has_asked: false }
    }

    /// The next one, which may be asked now.
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

    /// Takes out the one that would be next, to be asked beside another; [`Self::put_back`] it if it is
    /// not.
    pub fn spare(&mut self) -> Option<Candidate<S>> {
        let at = self.waiting.iter().position(|candidate| candidate.rest().is_none())?;
        self.waiting.remove(at)
    }

    /// It was not asked.
    pub fn put_back(&mut self, spare: Candidate<S>) {
        self.waiting.push_front(spare);
    }

    /// True if another may be asked after this one.
    pub fn has_more(&self) -> bool {
        self.waiting.iter().any(|candidate| candidate.rest().is_none())
    }

    /// Candidates that were passed over, because they have failed just before.
    pub fn resting(&self) -> impl Iterator<Item = &Candidate<S>> {
        self.resting.iter()
    }
}

//! Services of one kind in order of preference, of which the first that can is asked.
//!
//! Entry types: [`Chain`], made by the registry; [`Queue`], the candidates for one request;
//! [`Asked`], which takes note of what became of it. The caller pays for each candidate by itself.
//! **Never**: asks anything.

mod asked;
mod candidate;
mod health;
mod queue;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

pub use self::{asked::Asked, candidate::Candidate, health::Health, queue::Queue};

/// Services of one kind, in order of preference; there is at least one. Cloning shares them.
pub struct Chain<S: ?Sized> {
    candidates: Arc<[Candidate<S>]>,
    is_hedged: bool,
}

impl<S: ?Sized> Chain<S> {
    /// `first`, then `others` in their order; `is_hedged`: where the first word is late, the next is
    /// asked too.
    pub fn new(first: Candidate<S>, others: Vec<Candidate<S>>, is_hedged: bool) -> Self {
        Self { candidates: std::iter::once(first).chain(others).collect(), is_hedged }
    }

    /// One service, which nobody else asks: a stand-in of tests and benches.
    pub fn of(name: &str, service: Arc<S>) -> Self {
        Self::new(Candidate::new(name, service, Arc::default()), Vec::new(), false)
    }

    /// The candidates, in order of preference.
    pub fn iter(&self) -> impl Iterator<Item = &Candidate<S>> {
        self.candidates.iter()
    }

    /// The candidates that `wanted` picks, in their order; `None`: none.
    pub fn only(&self, wanted: impl Fn(&S) -> bool) -> Option<Self> {
        let picked = self.iter().filter(|it| wanted(it.service())).cloned();
        let candidates: Arc<[_]> = picked.collect();
        (!candidates.is_empty()).then_some(Self { candidates, is_hedged: self.is_hedged })
    }

    /// The preferred one, without the others.
    #[must_use]
    pub fn first(&self) -> Self {
        Self { candidates: self.candidates.iter().take(1).cloned().collect(), is_hedged: false }
    }

    /// True if there is nobody else to ask.
    pub fn is_alone(&self) -> bool {
        self.candidates.len() == 1
    }

    /// True if the next is asked too when the first word is late.
    pub const fn is_hedged(&self) -> bool {
        self.is_hedged
    }

    /// Candidates for one request, one after the other.
    pub fn queue(&self) -> Queue<S> {
        Queue::new(self.candidates.iter().cloned())
    }

    /// News of the services for the game master, each once.
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

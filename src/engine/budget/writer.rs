//! Postings of a budget, for the task that writes them to the store.

use std::sync::Arc;

use super::account::Shared;
use crate::{
    domain::Granted,
    logic::budget::{Ledger, Postings},
};

/// Hands out the postings of one budget. A budget has one writer at a time.
pub struct BudgetWriter(Arc<Shared>);

impl BudgetWriter {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// The next postings; `None`: the budget is closed and all of it is written.
    pub async fn next(&self) -> Option<Postings> {
        loop {
            if let Some(postings) = self.now() {
                return Some(postings);
            }
            if self.is_closed() {
                return None;
            }
            self.0.wake.notified().await;
        }
    }

    /// Postings to write now, if any.
    pub fn now(&self) -> Option<Postings> {
        self.0.look(Ledger::postings)
    }

    /// True once the budget is closed: nothing more is spent from it.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Nothing is set aside ahead any more, and [`Self::next`] ends when all is written.
    pub fn close(&self) {
        self.0.close();
    }

    /// The store has answered.
    pub fn posted(&self, postings: &Postings, granted: &[Granted]) {
        self.0.with(|ledger| ledger.posted(postings, granted));
    }

    /// The store could not be asked.
    pub fn unposted(&self, postings: &Postings, why: String) {
        self.0.with(|ledger| ledger.unposted(postings, why));
    }
}

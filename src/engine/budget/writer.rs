//! Postings of a budget, on their way to the store.

use std::sync::Arc;

use super::account::Shared;
use crate::{
    domain::Granted,
    logic::budget::{Ledger, Postings},
};

/// Hands out the postings of one budget. **Never**: two per budget.
pub struct BudgetWriter(Arc<Shared>);

impl BudgetWriter {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// The next postings; `None` once the budget is closed and everything is written.
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

    pub fn now(&self) -> Option<Postings> {
        self.0.look(Ledger::postings)
    }

    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Stops reserving ahead; [`Self::next`] ends once everything is written.
    pub fn close(&self) {
        self.0.close();
    }

    pub fn posted(&self, postings: &Postings, granted: &[Granted]) {
        self.0.with(|ledger| ledger.posted(postings, granted));
    }

    pub fn unposted(&self, postings: &Postings, why: String) {
        self.0.with(|ledger| ledger.unposted(postings, why));
    }
}

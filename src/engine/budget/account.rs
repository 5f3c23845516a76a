//! An account with several payers, and its postings on their way to the store.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{Notify, watch};

use crate::{
    domain::Granted,
    engine::locked::locked,
    logic::budget::{Ledger, Postings},
};

#[derive(Clone)]
pub struct Account {
    pub shared: Arc<Shared>,
    /// Tool whose costs are booked through this handle.
    pub tool: Option<Arc<str>>,
    _open: Arc<Open>,
}

pub struct Shared {
    ledger: Mutex<Ledger>,
    pub wake: Notify,
    /// Signals an answer of the store, or returned money.
    pub changed: watch::Sender<()>,
    closed: AtomicBool,
    pub told: AtomicBool,
}

struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Account {
    pub fn new(ledger: Ledger) -> Self {
        let shared = Arc::new(Shared {
            ledger: Mutex::new(ledger),
            wake: Notify::new(),
            changed: watch::Sender::new(()),
            closed: AtomicBool::new(false),
            told: AtomicBool::new(false),
        });
        Self { _open: Arc::new(Open(Arc::clone(&shared))), tool: None, shared }
    }

    /// The same account, whose further costs are booked on `tool`.
    pub fn for_tool(&self, tool: &str) -> Self {
        Self { tool: Some(Arc::from(tool)), ..self.clone() }
    }
}

impl Shared {
    pub fn look<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        act(&mut locked(&self.ledger))
    }

    /// Changes the ledger; wakes the writer and all waiting tasks.
    pub fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        let done = self.look(act);
        self.wake.notify_one();
        // All receivers may have been dropped.
        self.changed.send_replace(());
        done
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.with(Ledger::rest);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

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

//! An account with several payers.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{Notify, watch};

use crate::{engine::locked::locked, logic::budget::Ledger};

#[derive(Clone)]
pub struct Account {
    pub shared: Arc<Shared>,
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
        Self { _open: Arc::new(Open(Arc::clone(&shared))), shared }
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

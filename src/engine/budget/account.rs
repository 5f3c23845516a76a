//! An account that several pay from at once.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{Notify, watch};

use crate::{engine::locked::locked, logic::budget::Ledger};

/// A handle on an account, which is closed when the last is gone.
#[derive(Clone)]
pub struct Account {
    /// What all handles look at.
    pub shared: Arc<Shared>,
    _open: Arc<Open>,
}

/// The account, and who waits for what is written of it.
pub struct Shared {
    ledger: Mutex<Ledger>,
    /// Something is to be written.
    pub wake: Notify,
    /// Told when the store has answered, or something was given back.
    pub changed: watch::Sender<()>,
    closed: AtomicBool,
    /// Somebody has said aloud that a cap is reached.
    pub told: AtomicBool,
}

/// Closes the account.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Account {
    /// An account with what is in `ledger`.
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
    /// Has `act` look at the ledger.
    pub fn look<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        act(&mut locked(&self.ledger))
    }

    /// Has `act` change the ledger; whoever writes it down, or waits for that, looks again.
    pub fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        let done = self.look(act);
        self.wake.notify_one();
        // Nobody may be waiting.
        self.changed.send_replace(());
        done
    }

    /// Nobody pays from it any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.with(Ledger::rest);
    }

    /// Whether nobody pays from it any more.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

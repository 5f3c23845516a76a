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
    /// State shared by all handles.
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
    /// A reached cap has been announced aloud.
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

    /// Changes the ledger by `act`; wakes the writer and all waiting tasks.
    pub fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        let done = self.look(act);
        self.wake.notify_one();
        // All receivers may have been dropped.
        self.changed.send_replace(());
        done
    }

    /// Ends all payment from it.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.with(Ledger::rest);
    }

    /// True once it is closed.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

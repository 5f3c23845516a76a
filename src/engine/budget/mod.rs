//! What everything of a session, or of what is asked outside, is paid from.
//!
//! Entry types: [`Budget`], shared by everyone who pays from it; [`Reservation`], money for one request;
//! [`BudgetWriter`], which has it written down. **Never**: lets a request go out that a cap does not
//! allow, or that is not set aside where it outlasts this process.

mod reservation;
mod writer;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{Notify, watch};

pub use self::{reservation::Reservation, writer::BudgetWriter};
use crate::{
    logic::budget::{BudgetOptions, Consumption, Ledger, OverBudget},
    provider::{Error, Kind, Usage},
};

/// Longest wait for the store before a request is given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// What templates put around a conversation, in tokens.
const TEMPLATE: u64 = 64;

/// What a request of so many bytes may use at most: a token is a byte at least.
pub fn expected(bytes: u64, max_tokens: u32) -> Consumption {
    Consumption {
        input_tokens: bytes.saturating_add(TEMPLATE),
        output_tokens: u64::from(max_tokens),
        ..Consumption::default()
    }
}

/// What a request has used.
pub fn consumed(usage: Usage) -> Consumption {
    Consumption {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        ..Consumption::default()
    }
}

/// A handle on an account.
#[derive(Clone)]
pub struct Budget {
    shared: Arc<Shared>,
    /// The account is closed when the last handle is gone.
    _open: Arc<Open>,
}

/// The account, and who waits for what is written of it.
struct Shared {
    ledger: Mutex<Ledger>,
    /// Something is to be written.
    wake: Notify,
    /// Told when the store has answered, or something was given back.
    changed: watch::Sender<()>,
    closed: AtomicBool,
    /// Somebody has said aloud that a cap is reached.
    told: AtomicBool,
}

/// Closes the account.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Shared {
    fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        let done = act(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_one();
        // Nobody may be waiting.
        self.changed.send_replace(());
        done
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.with(Ledger::rest);
    }
}

impl Budget {
    /// A budget over `ledger`, which nobody writes down.
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

    /// What writes it down.
    pub fn writer(&self) -> BudgetWriter {
        BudgetWriter::new(Arc::clone(&self.shared))
    }

    /// Money spent so far.
    pub fn spent(&self) -> f64 {
        self.shared.ledger.lock().unwrap_or_else(PoisonError::into_inner).spent()
    }

    /// From now on these caps and prices hold.
    pub fn set_options(&self, options: BudgetOptions) {
        self.shared.told.store(false, Ordering::Relaxed);
        self.shared.with(|ledger| ledger.set_options(options));
    }

    /// `payer` may come to spend something, up to a cap of its own.
    pub fn expect(&self, payer: &str, cap: Option<f64>) {
        self.shared.with(|ledger| ledger.expect(payer, cap));
    }

    /// Whether it is to be said aloud that a cap is reached: once, until other caps hold.
    pub fn tells_of_stop(&self) -> bool {
        !self.shared.told.swap(true, Ordering::Relaxed)
    }

    /// The session is over: what is not needed goes back, and only what is spent after it is set aside.
    pub fn rest(&self) {
        self.shared.with(Ledger::rest);
    }

    /// Sets money aside for a request, and waits until that outlasts this process, which it does already
    /// for most; free models (`None`) always pass. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::OverBudget`] when a cap would be passed, or nothing can be written down.
    pub async fn reserve(
        &self,
        model: Option<&str>,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<Reservation, Error> {
        let reservation = self.reserve_now(model, payer, payer_cap, expected)?;
        reservation.ready().await?;
        Ok(reservation)
    }

    /// The same without waiting: [`Reservation::ready`] is waited for before the request goes out.
    ///
    /// # Errors
    /// [`Kind::OverBudget`] when a cap would be passed.
    pub fn reserve_now(
        &self,
        model: Option<&str>,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<Reservation, Error> {
        Reservation::new(self.clone(), model, payer, payer_cap, expected)
    }
}

fn over_budget(error: &OverBudget) -> Error {
    Error::new(Kind::OverBudget, error.to_string())
}

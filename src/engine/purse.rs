//! The session's ledger, shared by everyone who pays from it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    logic::budget::{Consumption, Ledger, Reservation},
    provider::{Error, Kind, Usage},
};

/// What a request of so many bytes may use at most.
pub fn expected(bytes: u64, max_tokens: u32) -> Consumption {
    Consumption {
        // Three characters a token is on the safe side for European languages.
        input_tokens: bytes / 3,
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

/// A handle on the session's ledger.
#[derive(Clone)]
pub struct Purse(Arc<Mutex<Ledger>>);

/// Money set aside for one call; booked in full when dropped unsettled, because a cancelled call
/// may have been billed.
#[must_use = "a call is settled when it is over"]
pub struct Held {
    purse: Purse,
    reservation: Option<Reservation>,
}

impl Purse {
    /// A purse over `ledger`.
    pub fn new(ledger: Ledger) -> Self {
        Self(Arc::new(Mutex::new(ledger)))
    }

    /// Money spent so far.
    pub fn spent(&self) -> f64 {
        self.with(|ledger| ledger.spent())
    }

    /// Sets money aside; free models (`None`) always pass.
    ///
    /// # Errors
    /// [`Kind::OverBudget`] when a cap would be passed.
    pub fn hold(
        &self,
        model: Option<&str>,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<Held, Error> {
        let reservation = match model {
            None => None,
            Some(model) => Some(
                self.with(|ledger| ledger.reserve(model, payer, payer_cap, expected))
                    .map_err(|error| Error::new(Kind::OverBudget, error.to_string()))?,
            ),
        };
        Ok(Held { purse: self.clone(), reservation })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Held {
    /// Books what was really used.
    pub fn settle(mut self, used: Consumption) {
        if let Some(reservation) = self.reservation.take() {
            self.purse.with(|ledger| ledger.settle(reservation, Some(used)));
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            self.purse.with(|ledger| ledger.settle(reservation, None));
        }
    }
}

//! The session's ledger, shared by everyone who pays from it.
//!
//! Entry types: [`Budget`], [`Reservation`]. **Never**: lets a call go out that a cap does not allow.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    logic::budget::{Consumption, Ledger, ReservedAmount},
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
pub struct Budget(Arc<Mutex<Ledger>>);

/// Money set aside for one call; booked in full when dropped unsettled, because a cancelled call
/// may have been billed.
#[must_use = "a call is settled when it is over"]
pub struct Reservation {
    budget: Budget,
    amount: Option<ReservedAmount>,
}

impl Budget {
    /// A budget over `ledger`.
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
    pub fn reserve(
        &self,
        model: Option<&str>,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<Reservation, Error> {
        let amount = match model {
            None => None,
            Some(model) => Some(
                self.with(|ledger| ledger.reserve(model, payer, payer_cap, expected))
                    .map_err(|error| Error::new(Kind::OverBudget, error.to_string()))?,
            ),
        };
        Ok(Reservation { budget: self.clone(), amount })
    }

    fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Reservation {
    /// Books what was really used.
    pub fn settle(mut self, used: Consumption) {
        if let Some(amount) = self.amount.take() {
            self.budget.with(|ledger| ledger.settle(amount, Some(used)));
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(amount) = self.amount.take() {
            self.budget.with(|ledger| ledger.settle(amount, None));
        }
    }
}

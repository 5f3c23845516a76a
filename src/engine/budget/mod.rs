//! Budgets of sessions, and of requests outside them.
//!
//! Entry types: [`Budget`], shared by its payers; [`Reservation`], money for one request;
//! [`BudgetWriter`], its way to the store. A request reserves its upper bound before it is sent:
//! one token per byte of input, and `max_tokens` of output. It is refused if a cap would be
//! exceeded. The reservation must also be granted by the store, so that a crash cannot lose it;
//! money is granted ahead, so most requests need not wait, and 5 s is the longest wait. Afterwards
//! the service's count is booked if it is plausible, else the usual count for the text. A failed
//! request gets back what was certainly not billed. A dropped reservation is booked in full,
//! because the service may have billed a cancelled request. Each retry is paid for separately.

mod account;
mod reservation;

use std::sync::{Arc, atomic::Ordering};

use self::account::Account;
pub use self::{account::BudgetWriter, reservation::Reservation};
use crate::{
    logic::budget::{BudgetOptions, Consumption, Ledger},
    provider::{Error, Usage},
};

/// Tokens of templates around a conversation.
const TEMPLATE: u64 = 64;

/// More bytes than any token has.
const MOST_BYTES: u64 = 16;
/// Bytes of a usual token.
const USUAL_BYTES: u64 = 4;

/// Upper bound for a request of `bytes`: a token has at least one byte.
pub fn expected(bytes: u64, max_tokens: u32) -> Consumption {
    Consumption {
        input_tokens: bytes.saturating_add(TEMPLATE),
        output_tokens: u64::from(max_tokens),
        ..Consumption::default()
    }
}

pub fn consumed(usage: Usage) -> Consumption {
    Consumption {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        written_tokens: usage.written_tokens,
        output_tokens: usage.output_tokens,
        ..Consumption::default()
    }
}

/// `told` tokens if plausible for `bytes` of text, else the usual count, at most `most`.
pub fn plausible(told: u64, bytes: u64, most: u64) -> u64 {
    match told < bytes.div_ceil(MOST_BYTES) {
        true => bytes.div_ceil(USUAL_BYTES).min(most).max(told),
        false => told,
    }
}

/// `usage` if plausible for a request of `asked` and an answer of `answered` bytes. A count that is
/// too low is replaced by the usual one, at most `reserved`.
pub fn believed(usage: Usage, asked: u64, answered: u64, reserved: Consumption) -> Usage {
    let input_tokens = plausible(usage.input_tokens, asked, reserved.input_tokens);
    let output_tokens = plausible(usage.output_tokens, answered, reserved.output_tokens);
    let cached_tokens = usage.cached_tokens.min(input_tokens);
    Usage { input_tokens, output_tokens, cached_tokens, ..usage }
}

/// A budget for paid calls. Clones share it; dropping the last closes it.
#[derive(Clone)]
pub struct Budget(Account);

impl Budget {
    /// A budget over an unsaved `ledger`.
    pub fn new(ledger: Ledger) -> Self {
        Self(Account::new(ledger))
    }

    pub fn writer(&self) -> BudgetWriter {
        BudgetWriter::new(Arc::clone(&self.0.shared))
    }

    /// This budget, whose costs through the result are booked on `tool`.
    #[must_use]
    pub fn for_tool(&self, tool: &str) -> Self {
        Self(self.0.for_tool(tool))
    }

    pub fn spent(&self) -> f64 {
        self.0.shared.look(|ledger| ledger.spent())
    }

    pub fn set_options(&self, options: BudgetOptions) {
        self.0.shared.told.store(false, Ordering::Relaxed);
        self.0.shared.with(|ledger| ledger.set_options(options));
    }

    pub fn expect(&self, payer: &str, cap: Option<f64>) {
        self.0.shared.with(|ledger| ledger.expect(payer, cap));
    }

    /// True once, until the caps change: a reached cap should be announced aloud.
    pub fn tells_of_stop(&self) -> bool {
        !self.0.shared.told.swap(true, Ordering::Relaxed)
    }

    /// Ends the session: returns unneeded money, and reserves only for later requests.
    pub fn rest(&self) {
        self.0.shared.with(Ledger::rest);
    }

    /// Reserves money and waits until the store has granted it. Free models (`None`) always pass.
    /// Fails with [`crate::provider::Kind::OverBudget`] at a cap or without the store. Cancel safe.
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

    /// Like [`Self::reserve`] without waiting: await [`Reservation::ready`] before sending the
    /// request.
    pub fn reserve_now(
        &self,
        model: Option<&str>,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<Reservation, Error> {
        Reservation::new(self.0.clone(), model, payer, payer_cap, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{logic::budget::Price, provider::Kind};

    const fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, cached_tokens: 0, written_tokens: 0 }
    }

    #[test]
    fn counts_that_cannot_be_true_are_not_believed() {
        let reserved = expected(16_000, 300);
        let of = |told| believed(told, 16_000, 800, reserved);
        assert_eq!(of(usage(0, 0)), usage(4_000, 200));
        assert_eq!(of(usage(1_000, 50)), usage(1_000, 50));
        assert_eq!(of(usage(999, 50)), usage(4_000, 50));
        assert_eq!(believed(usage(5, 0), 64, 4_000, reserved), usage(5, 300));
        let cached = Usage { cached_tokens: 9_000, ..usage(2_000, 60) };
        assert_eq!(of(cached).cached_tokens, 2_000);
    }

    #[tokio::test]
    async fn attempt_before_a_refused_one_is_booked() {
        let price = Price { request: 1.0, ..Price::default() };
        let prices = [("m".to_owned(), price)].into();
        let options = BudgetOptions { session_max: Some(1.5), prices, ..BudgetOptions::default() };
        let budget = Budget::new(Ledger::new(options, 0.0));
        let once = Consumption { requests: 1, ..Consumption::default() };
        let reserved = budget.reserve(Some("m"), "Mira", None, once).await.unwrap();
        let refused = reserved.attempts().again(Kind::Unavailable).await.unwrap_err();
        assert_eq!(refused.kind(), Kind::OverBudget);
        reserved.failed(refused.kind());
        assert!((budget.spent() - 1.0).abs() < 1e-9, "{}", budget.spent());
    }
}

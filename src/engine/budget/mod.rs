//! Budgets of sessions, and of requests outside them.
//!
//! Entry types: [`Budget`], shared by everyone who pays from it; [`Reservation`], money for one request;
//! [`BudgetWriter`], which has it written down. **Never**: lets a request go out that a cap does not
//! allow, or that is not set aside where it outlasts this process.

mod account;
mod reservation;
mod writer;

use std::sync::{Arc, atomic::Ordering};

use self::account::Account;
pub use self::{reservation::Reservation, writer::BudgetWriter};
use crate::{
    logic::budget::{BudgetOptions, Consumption, Ledger},
    provider::{Error, Usage},
};

/// Overhead of templates around a conversation, in tokens.
const TEMPLATE: u64 = 64;

/// More bytes than a token of any text has.
const MOST_BYTES: u64 = 16;
/// Bytes that a token usually has.
const USUAL_BYTES: u64 = 4;

/// Upper bound for a request of so many bytes: a token has at least one byte.
pub fn expected(bytes: u64, max_tokens: u32) -> Consumption {
    Consumption {
        input_tokens: bytes.saturating_add(TEMPLATE),
        output_tokens: u64::from(max_tokens),
        ..Consumption::default()
    }
}

/// Consumption of a request.
pub fn consumed(usage: Usage) -> Consumption {
    Consumption {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        written_tokens: usage.written_tokens,
        output_tokens: usage.output_tokens,
        ..Consumption::default()
    }
}

/// A count of tokens for so many bytes of text: `told` where it can be true, else the usual one, at most
/// `most`.
pub fn plausible(told: u64, bytes: u64, most: u64) -> u64 {
    match told < bytes.div_ceil(MOST_BYTES) {
        true => bytes.div_ceil(USUAL_BYTES).min(most).max(told),
        false => told,
    }
}

/// `usage` where it can be true of a request of `asked` bytes with an answer of `answered` bytes; a
/// count that is too low becomes the usual one, at most what is `reserved`.
pub fn believed(usage: Usage, asked: u64, answered: u64, reserved: Consumption) -> Usage {
    let input_tokens = plausible(usage.input_tokens, asked, reserved.input_tokens);
    let output_tokens = plausible(usage.output_tokens, answered, reserved.output_tokens);
    let cached_tokens = usage.cached_tokens.min(input_tokens);
    Usage { input_tokens, output_tokens, cached_tokens, ..usage }
}

/// A budget for paid calls. Cloning shares it; dropping the last handle closes it.
#[derive(Clone)]
pub struct Budget(Account);

impl Budget {
    /// A budget over `ledger`, which is not stored.
    pub fn new(ledger: Ledger) -> Self {
        Self(Account::new(ledger))
    }

    /// Its writer.
    pub fn writer(&self) -> BudgetWriter {
        BudgetWriter::new(Arc::clone(&self.0.shared))
    }

    /// Money spent so far.
    pub fn spent(&self) -> f64 {
        self.0.shared.look(|ledger| ledger.spent())
    }

    /// From now on these caps and prices hold.
    pub fn set_options(&self, options: BudgetOptions) {
        self.0.shared.told.store(false, Ordering::Relaxed);
        self.0.shared.with(|ledger| ledger.set_options(options));
    }

    /// Registers `payer` as a possible payer, with a cap of its own.
    pub fn expect(&self, payer: &str, cap: Option<f64>) {
        self.0.shared.with(|ledger| ledger.expect(payer, cap));
    }

    /// True if a reached cap is to be announced aloud: once, until other caps apply.
    pub fn tells_of_stop(&self) -> bool {
        !self.0.shared.told.swap(true, Ordering::Relaxed)
    }

    /// The session is over: what is not needed goes back, and only what is spent after it is set aside.
    pub fn rest(&self) {
        self.0.shared.with(Ledger::rest);
    }

    /// Sets money aside for a request, and waits until that outlasts this process, which it does already
    /// for most; free models (`None`) always pass. Cancel safe.
    ///
    /// # Errors
    /// [`crate::provider::Kind::OverBudget`] when a cap would be passed, or nothing can be written down.
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

    /// Like `reserve`, without waiting: await [`Reservation::ready`] before the request goes out.
    ///
    /// # Errors
    /// [`crate::provider::Kind::OverBudget`] when a cap would be passed.
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

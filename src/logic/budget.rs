//! Money: what a session may spend, what calls cost, what is left.
//!
//! Entry type: [`Ledger`]. A call is reserved **before** it is made and settled after.
//! **Never**: knows a price of its own; prices come from the configuration.

use std::collections::BTreeMap;

/// What a session may spend, and what models cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetOptions {
    /// Hard cap of one session, in the price list's currency; `None`: no cap.
    pub session_max: Option<f64>,
    /// Prices by model name.
    pub prices: BTreeMap<String, Price>,
}

/// What one model costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Per million tokens read.
    pub input: f64,
    /// Per million tokens read from the provider's cache.
    pub cached_input: f64,
    /// Per million tokens written.
    pub output: f64,
    /// Per million characters spoken.
    pub characters: f64,
    /// Per minute of audio heard.
    pub minute: f64,
}

/// What a call uses, in the units it is billed by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Consumption {
    /// Tokens read, those from the cache included.
    pub input_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens the model has written.
    pub output_tokens: u64,
    /// Characters that were synthesized.
    pub characters: u64,
    /// Seconds of audio heard.
    pub seconds: f64,
}

/// Money set aside for a call that is under way.
#[derive(Debug)]
#[must_use = "a reservation is settled when the call is over"]
pub struct ReservedAmount {
    model: String,
    payer: String,
    amount: f64,
}

/// The call would pass a cap.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "{whose} spending cap of {cap:.2} is reached: {spent:.4} spent, the next call may cost {next:.4} ({way_out})"
)]
pub struct OverBudget {
    whose: String,
    cap: f64,
    spent: f64,
    next: f64,
    way_out: &'static str,
}

/// What a session has spent and set aside.
#[derive(Debug, Default)]
pub struct Ledger {
    options: BudgetOptions,
    spent: f64,
    reserved: f64,
    by_payer: BTreeMap<String, f64>,
}

impl Ledger {
    /// A ledger that starts with `spent` already booked, as a continued session does.
    pub fn new(options: BudgetOptions, spent: f64) -> Self {
        Self { options, spent, ..Self::default() }
    }

    /// Money spent so far, calls under way not counted.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Sets money aside for a call of `payer` (an NPC's name, or "hearing") to `model`.
    ///
    /// # Errors
    /// [`OverBudget`] when the call could pass the session's cap or `payer_cap`.
    pub fn reserve(
        &mut self,
        model: &str,
        payer: &str,
        payer_cap: Option<f64>,
        expected: Consumption,
    ) -> Result<ReservedAmount, OverBudget> {
        let next = self.cost(model, expected);
        if let Some(cap) = self.options.session_max
            && next > 0.0
            && self.spent + self.reserved + next > cap
        {
            return Err(OverBudget {
                whose: "the session's".into(),
                cap,
                spent: self.spent,
                next,
                way_out: "raise budget.session_max or start a new session",
            });
        }
        let paid = self.by_payer.get(payer).copied().unwrap_or_default();
        if let Some(cap) = payer_cap
            && next > 0.0
            && paid + next > cap
        {
            return Err(OverBudget {
                whose: format!("{payer}'s"),
                cap,
                spent: paid,
                next,
                way_out: "raise policy.max_cost of this npc",
            });
        }
        self.reserved += next;
        Ok(ReservedAmount { model: model.to_owned(), payer: payer.to_owned(), amount: next })
    }

    /// Books what the call used; `None`: the whole amount set aside.
    pub fn settle(&mut self, reservation: ReservedAmount, used: Option<Consumption>) {
        self.reserved = (self.reserved - reservation.amount).max(0.0);
        let cost = used.map_or(reservation.amount, |used| self.cost(&reservation.model, used));
        self.spent += cost;
        *self.by_payer.entry(reservation.payer).or_default() += cost;
    }

    fn cost(&self, model: &str, used: Consumption) -> f64 {
        let Some(price) = self.options.prices.get(model) else { return 0.0 };
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let millions = |count: u64| count as f64 / 1e6;
        let fresh = used.input_tokens.saturating_sub(used.cached_tokens);
        millions(fresh) * price.input
            + millions(used.cached_tokens) * price.cached_input
            + millions(used.output_tokens) * price.output
            + millions(used.characters) * price.characters
            + used.seconds / 60.0 * price.minute
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ledger(session_max: f64) -> Ledger {
        let price = Price { input: 1.0, output: 2.0, ..Price::default() };
        let prices = BTreeMap::from([("m".to_owned(), price)]);
        Ledger::new(BudgetOptions { session_max: Some(session_max), prices }, 0.0)
    }

    fn tokens(input_tokens: u64, output_tokens: u64) -> Consumption {
        Consumption { input_tokens, output_tokens, ..Consumption::default() }
    }

    #[test]
    fn refuses_before_the_cap_is_passed() {
        let mut ledger = ledger(3.0);
        let first = ledger.reserve("m", "Bartok", None, tokens(1_000_000, 500_000)).unwrap();
        let error = ledger.reserve("m", "Bartok", None, tokens(1_000_000, 500_000)).unwrap_err();
        assert!(error.to_string().contains("budget.session_max"), "{error}");
        ledger.settle(first, Some(tokens(10, 10)));
        assert!(ledger.spent() < 0.001);
        assert!(ledger.reserve("m", "Bartok", None, tokens(1_000_000, 500_000)).is_ok());
    }

    #[test]
    fn an_npc_has_its_own_cap_and_free_models_none() {
        let mut ledger = ledger(100.0);
        let error = ledger.reserve("m", "Mira", Some(0.5), tokens(1_000_000, 0)).unwrap_err();
        assert!(error.to_string().contains("Mira's"), "{error}");
        assert!(ledger.reserve("free", "Mira", Some(0.0), tokens(u64::MAX, 0)).is_ok());
    }

    proptest! {
        #[test]
        fn spent_and_reserved_never_pass_the_cap(calls in prop::collection::vec((0u64..900_000, 0u64..900_000), 1..40)) {
            let mut ledger = ledger(2.0);
            for (input, output) in calls {
                if let Ok(held) = ledger.reserve("m", "a", None, tokens(input, output)) {
                    ledger.settle(held, Some(tokens(input, output)));
                }
                prop_assert!(ledger.spent() <= 2.0 + 1e-9);
            }
        }
    }
}

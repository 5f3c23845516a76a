//! An account of the ledger, as this process sees it.
//!
//! Entry type: [`Ledger`]. **Never**: writes to the store; [`Ledger::postings`] returns what to
//! write.

use std::collections::BTreeMap;

use super::{
    costs::Costs,
    price::{BudgetOptions, Consumption},
    tally::Tally,
};
use crate::domain::{Claim, Cost, Granted, Limit, Money};

/// Money reserved for a call under way.
#[derive(Debug)]
#[must_use = "a reservation is settled when the call is over"]
pub struct ReservedAmount {
    model: String,
    payer: String,
    tool: String,
    amount: Money,
    /// Sequence number, from 1.
    number: u64,
}

#[derive(Clone, Debug)]
pub struct Requested<'a> {
    /// Name in the price list.
    pub model: &'a str,
    /// An NPC's name, or "hearing".
    pub payer: &'a str,
    pub payer_cap: Option<f64>,
    /// Upper bound.
    pub expected: Consumption,
    /// Identity of the tool that causes it.
    pub tool: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OverBudget {
    #[error(
        "{whose} spending cap of {cap:.2} is reached: {spent:.4} spent, the next call may cost {next:.4} ({way_out})"
    )]
    Cap {
        whose: String,
        /// In the price list's currency.
        cap: f64,
        spent: f64,
        next: f64,
        way_out: &'static str,
    },
    #[error(
        "paid calls stop while spending cannot be recorded: {0} (free ones go on; check that the \
         store of 'memory' is reachable)"
    )]
    Away(String),
}

/// Changes to write to the store in one step.
#[derive(Clone, Debug, Default)]
pub struct Postings {
    /// The account's claim, and its payers'.
    pub claims: Vec<Claim>,
    /// Expenses paid from `claims`.
    pub costs: Vec<Cost>,
    pub month_max: Option<Money>,
    /// Number of the last reservation covered.
    through: u64,
}

/// Spending and reservations of an account.
#[derive(Debug, Default)]
pub struct Ledger {
    options: BudgetOptions,
    whole: Tally,
    payers: BTreeMap<String, Tally>,
    /// Not posted yet.
    costs: Costs,
    /// Reservations must be granted by the store before they are spent.
    is_kept: bool,
    /// Claims ask for no more than they need.
    at_rest: bool,
    reservations: u64,
    refusal: Option<Refusal>,
}

#[derive(Clone, Debug)]
enum Refusal {
    Cap(Limit),
    Away(String),
}

impl Ledger {
    /// An account without a store that has already `spent` this much.
    pub fn new(options: BudgetOptions, spent: f64) -> Self {
        let whole = Tally::new(options.session_max.map(Money::of), Money::of(spent));
        Self { options, whole, ..Self::default() }
    }

    /// An account in a store. `at_rest`: claims ask for no more than they need.
    pub fn kept(options: BudgetOptions, at_rest: bool) -> Self {
        Self { is_kept: true, at_rest, ..Self::new(options, 0.0) }
    }

    /// Spending so far, without calls under way.
    pub fn spent(&self) -> f64 {
        self.whole.spent().units()
    }

    /// Replaces the caps and prices.
    pub fn set_options(&mut self, options: BudgetOptions) {
        self.whole.cap = options.session_max.map(Money::of);
        self.whole.ask_again();
        self.options = options;
    }

    /// Stops claiming ahead, and returns what is free.
    pub fn rest(&mut self) {
        self.at_rest = true;
        self.whole.ask_again();
        self.payers.values_mut().for_each(Tally::ask_again);
    }

    /// Registers a possible payer.
    pub fn expect(&mut self, payer: &str, cap: Option<f64>) {
        let cap = cap.map(Money::of);
        let tally = self.payers.entry(payer.to_owned());
        tally.or_insert_with(|| Tally::new(cap, Money::ZERO)).cap = cap;
    }

    /// Reserves money for a call.
    ///
    /// # Errors
    /// [`OverBudget::Cap`] if the call could exceed a cap.
    pub fn reserve(&mut self, requested: &Requested<'_>) -> Result<ReservedAmount, OverBudget> {
        let Requested { model, payer, payer_cap, expected, tool } = *requested;
        let amount = self.options.bound(model, expected);
        self.expect(payer, payer_cap);
        if amount > Money::ZERO {
            let of_payer = self.payers.get(payer).is_some_and(|tally| tally.passes(amount));
            if self.whole.passes(amount) {
                return Err(self.over(Limit::Account, payer, amount));
            }
            if of_payer {
                return Err(self.over(Limit::Payer, payer, amount));
            }
        }
        self.reservations += 1;
        self.whole.hold(amount);
        if let Some(tally) = self.payers.get_mut(payer) {
            tally.hold(amount);
        }
        let (model, payer) = (model.to_owned(), payer.to_owned());
        let tool = tool.unwrap_or_default().to_owned();
        Ok(ReservedAmount { model, payer, tool, amount, number: self.reservations })
    }

    /// True if the call may go out; false until the store has answered.
    ///
    /// # Errors
    /// The store refused the reservation or could not be reached.
    pub fn is_covered(&self, reserved: &ReservedAmount) -> Result<bool, OverBudget> {
        if !self.is_kept || reserved.amount == Money::ZERO {
            return Ok(true);
        }
        let payer = self.payers.get(&reserved.payer).filter(|tally| tally.cap.is_some());
        let mut covered = true;
        for tally in std::iter::once(&self.whole).chain(payer) {
            match tally.covers(reserved.number) {
                Some(true) => {}
                Some(false) => return Err(self.refused(reserved)),
                None => covered = false,
            }
        }
        Ok(covered)
    }

    fn refused(&self, reserved: &ReservedAmount) -> OverBudget {
        match &self.refusal {
            Some(Refusal::Away(why)) => OverBudget::Away(why.clone()),
            Some(Refusal::Cap(limit)) => self.over(*limit, &reserved.payer, reserved.amount),
            None => self.over(Limit::Account, &reserved.payer, reserved.amount),
        }
    }

    /// Books what the call used; the whole reservation if that or the model's price is unknown.
    pub fn settle(&mut self, reserved: ReservedAmount, used: Consumption) {
        let is_priced = self.options.prices.contains_key(&reserved.model);
        let cost = match is_priced {
            true => self.options.cost(&reserved.model, used),
            false => reserved.amount,
        };
        self.book(reserved, cost);
    }

    /// Books the reservation, or the cost of what the service has `counted` if that is more.
    pub fn settle_at_least(&mut self, reserved: ReservedAmount, counted: Consumption) {
        let cost = self.options.cost(&reserved.model, counted).max(reserved.amount);
        self.book(reserved, cost);
    }

    /// Books nothing: the call was not made or was free.
    pub fn release(&mut self, reserved: ReservedAmount) {
        self.book(reserved, Money::ZERO);
    }

    fn book(&mut self, reserved: ReservedAmount, cost: Money) {
        let ReservedAmount { model: service, payer, tool, amount, number: _ } = reserved;
        self.whole.settle(amount, cost);
        if let Some(tally) = self.payers.get_mut(&payer) {
            tally.settle(amount, cost);
        }
        if self.is_kept && cost > Money::ZERO {
            self.costs.add(Cost { payer, service, tool, spent: cost, requests: 1 });
        }
    }

    /// Changes to write now, if any; marks them as under way.
    pub fn postings(&mut self) -> Option<Postings> {
        if !self.is_kept {
            return None;
        }
        let at_rest = self.at_rest;
        let of_payers = self.payers.iter().filter(|(_, tally)| tally.cap.is_some());
        let of_payers = of_payers.filter_map(|(payer, tally)| tally.claim(Some(payer), at_rest));
        let claims: Vec<Claim> =
            self.whole.claim(None, at_rest).into_iter().chain(of_payers).collect();
        if claims.is_empty() {
            return None;
        }
        for claim in &claims {
            if let Some(tally) = self.tally(claim.payer.as_deref()) {
                tally.posted(claim);
            }
        }
        let month_max = self.options.month_max.map(Money::of);
        // Every cost leads to a claim of the whole account.
        let costs = self.costs.take();
        Some(Postings { claims, costs, month_max, through: self.reservations })
    }

    /// Applies the store's answer to each claim.
    pub fn posted(&mut self, postings: &Postings, granted: &[Granted]) {
        for (claim, granted) in postings.claims.iter().zip(granted) {
            if let Some(tally) = self.tally(claim.payer.as_deref()) {
                tally.granted(claim, granted, postings.through);
            }
            if let Some(limit) = granted.refused {
                self.refusal = Some(Refusal::Cap(limit));
            }
        }
    }

    /// The store could not be reached, for the reason `why`.
    pub fn unposted(&mut self, postings: &Postings, why: String) {
        for claim in &postings.claims {
            if let Some(tally) = self.tally(claim.payer.as_deref()) {
                tally.unposted(claim, postings.through);
            }
        }
        postings.costs.iter().cloned().for_each(|cost| self.costs.add(cost));
        self.refusal = Some(Refusal::Away(why));
    }

    fn tally(&mut self, payer: Option<&str>) -> Option<&mut Tally> {
        match payer {
            None => Some(&mut self.whole),
            Some(payer) => self.payers.get_mut(payer),
        }
    }

    fn over(&self, limit: Limit, payer: &str, next: Money) -> OverBudget {
        let of_payer = self.payers.get(payer);
        let spent = match limit {
            Limit::Payer => of_payer.map_or(Money::ZERO, Tally::spent),
            Limit::Account | Limit::Month => self.whole.spent(),
        };
        let cap = match limit {
            Limit::Payer => of_payer.and_then(|tally| tally.cap),
            Limit::Account => self.whole.cap,
            Limit::Month => self.options.month_max.map(Money::of),
        };
        let whose = match limit {
            Limit::Payer => format!("{payer}'s"),
            Limit::Account => "the session's".to_owned(),
            Limit::Month => "the month's".to_owned(),
        };
        let way_out = match limit {
            Limit::Payer => "raise policy.max_cost of this npc",
            Limit::Account => {
                "raise budget.session_max; a session begun twelve hours later starts at zero"
            }
            Limit::Month => "raise budget.max_cost_month, or wait for the next month",
        };
        let cap = cap.unwrap_or_default().units();
        OverBudget::Cap { whose, cap, spent: spent.units(), next: next.units(), way_out }
    }
}

#[cfg(test)]
impl ReservedAmount {
    pub fn is_of(&self, payer: &str) -> bool {
        self.payer == payer
    }
}

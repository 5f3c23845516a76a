//! Spending and reservations of one payer, or of the whole account.
//!
//! Entry type: [`Tally`].

use crate::domain::{Claim, Granted, Money};

/// Claims ask for at least this fraction of the cap ahead.
const AHEAD: u64 = 50;
/// Claims also ask for this many of the largest request so far, up to the fraction `MOST_AHEAD`
/// of the cap.
const REQUESTS_AHEAD: u64 = 2;
const MOST_AHEAD: u64 = 20;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub cap: Option<Money>,
    /// Spent or granted elsewhere: by other processes, and by this one before.
    before: Money,
    /// Granted to this process by the store.
    granted: Money,
    /// Cost of finished calls.
    settled: Money,
    /// Upper bound of the calls under way.
    open: Money,
    /// Spent but not posted yet.
    unwritten: Money,
    largest: Money,
    /// Never posted.
    is_new: bool,
    /// The store granted less than was wanted; it is not asked again until something changes.
    is_short: bool,
    /// Last reservations that the store has granted, and refused.
    covered_through: u64,
    refused_through: u64,
}

impl Tally {
    /// A tally that the store does not know yet.
    pub fn new(cap: Option<Money>, before: Money) -> Self {
        Self { cap, before, is_new: true, ..Self::default() }
    }

    /// Cost of finished calls, of all processes.
    pub const fn spent(&self) -> Money {
        self.before.plus(self.settled)
    }

    /// Lets the next claim ask the store again.
    pub const fn ask_again(&mut self) {
        self.is_short = false;
    }

    pub fn passes(&self, next: Money) -> bool {
        self.cap.is_some_and(|cap| self.spent().plus(self.open).plus(next) > cap)
    }

    pub fn hold(&mut self, amount: Money) {
        self.is_short = false;
        self.open = self.open.plus(amount);
        self.largest = self.largest.max(amount);
    }

    /// Replaces the reservation `held` by the actual `cost`.
    pub fn settle(&mut self, held: Money, cost: Money) {
        self.is_short = false;
        self.open = self.open.less(held);
        self.settled = self.settled.plus(cost);
        self.unwritten = self.unwritten.plus(cost);
    }

    const fn used(&self) -> Money {
        self.settled.plus(self.open)
    }

    /// True if the store has granted reservation `number`, false if it refused or could not be
    /// reached; `None`: undecided.
    pub fn covers(&self, number: u64) -> Option<bool> {
        match () {
            () if number <= self.covered_through || self.used() <= self.granted => Some(true),
            () if number <= self.refused_through => Some(false),
            () => None,
        }
    }

    fn ahead(&self, at_rest: bool) -> Money {
        if at_rest {
            return Money::ZERO;
        }
        let requests = Money(self.largest.0.saturating_mul(REQUESTS_AHEAD));
        self.cap.map_or(requests, |cap| {
            requests.min(Money(cap.0 / MOST_AHEAD)).max(Money(cap.0 / AHEAD))
        })
    }

    pub fn claim(&self, payer: Option<&str>, at_rest: bool) -> Option<Claim> {
        let ahead = self.ahead(at_rest);
        let free = self.granted.less(self.used());
        let owed = self.settled.less(self.granted);
        let need = self.used().less(self.granted).less(owed);
        // Renewed when half of it is used, so that a turn seldom waits.
        let is_low = free.0 < ahead.0.div_ceil(2) && !self.is_short;
        let want = if need > Money::ZERO || is_low { need.plus(ahead).less(free) } else { need };
        let returned = if at_rest { free } else { Money::ZERO };
        let amounts = [owed, need, returned, self.unwritten];
        let is_something = self.is_new || is_low || amounts.iter().any(|it| *it > Money::ZERO);
        // A refused amount is not asked for again until something changes.
        let is_something = is_something && !(self.is_short && owed.plus(self.unwritten).0 == 0);
        is_something.then(|| Claim {
            payer: payer.map(str::to_owned),
            cap: self.cap,
            owed,
            want: want.max(need),
            need,
            spent: self.unwritten,
            returned,
        })
    }

    pub fn posted(&mut self, claim: &Claim) {
        self.unwritten = self.unwritten.less(claim.spent);
        self.granted = self.granted.less(claim.returned);
        self.is_new = false;
    }

    /// Undoes [`Self::posted`] after the store could not be reached. The store may have taken the
    /// returned amount, so that stays returned.
    pub fn unposted(&mut self, claim: &Claim, through: u64) {
        self.unwritten = self.unwritten.plus(claim.spent);
        self.refused_through = through;
        self.is_short = true;
    }

    /// Applies the store's answer for reservations up to `through`.
    pub fn granted(&mut self, claim: &Claim, granted: &Granted, through: u64) {
        self.granted = self.granted.plus(granted.granted);
        self.before = granted.total.less(self.granted);
        self.is_short = granted.granted < claim.want.plus(claim.owed);
        match granted.refused {
            None => self.covered_through = through,
            Some(_) => self.refused_through = through,
        }
    }
}

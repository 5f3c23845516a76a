//! Money that one payer, or the account as a whole, has spent and set aside.
//!
//! Entry type: [`Tally`]. **Never**: says who it is.

use crate::domain::{Claim, Granted, Money};

/// Money set aside ahead, as a share of the cap (one in so many parts): most turns then write nothing before
/// their requests, and a program that is killed leaves no more than that set aside in vain.
const AHEAD: u64 = 50;
/// And so many of the largest request there was, as far as they are no larger share than this.
const REQUESTS_AHEAD: u64 = 2;
const MOST_AHEAD: u64 = 20;

/// Money that one payer, or the account as a whole, has spent and set aside.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Most that may be spent.
    pub cap: Option<Money>,
    /// Spent or set aside by others, and by this process before.
    before: Money,
    /// Set aside in the store by this process.
    granted: Money,
    /// Spent by calls that are over.
    settled: Money,
    /// Highest cost of the calls under way.
    open: Money,
    /// Spent and not written down yet.
    unwritten: Money,
    /// The largest request so far.
    largest: Money,
    /// It has never been posted.
    is_new: bool,
    /// The store had less than was wanted ahead; it is not asked again until something happens.
    is_short: bool,
    /// Up to which reservation the store has set aside what was needed, or refused to.
    covered_through: u64,
    refused_through: u64,
}

impl Tally {
    /// Nothing of it is known to the store yet; `before` was spent.
    pub fn new(cap: Option<Money>, before: Money) -> Self {
        Self { cap, before, is_new: true, ..Self::default() }
    }

    /// Spent by calls that are over, in this process or not.
    pub const fn spent(&self) -> Money {
        self.before.plus(self.settled)
    }

    /// The store is asked again, whatever it had before.
    pub const fn ask_again(&mut self) {
        self.is_short = false;
    }

    /// True if a call that costs up to `next` could exceed the cap.
    pub fn passes(&self, next: Money) -> bool {
        self.cap.is_some_and(|cap| self.spent().plus(self.open).plus(next) > cap)
    }

    /// A call that may cost `amount` begins.
    pub fn hold(&mut self, amount: Money) {
        self.is_short = false;
        self.open = self.open.plus(amount);
        self.largest = self.largest.max(amount);
    }

    /// A call for which `held` was set aside has cost `cost`.
    pub fn settle(&mut self, held: Money, cost: Money) {
        self.is_short = false;
        self.open = self.open.less(held);
        self.settled = self.settled.plus(cost);
        self.unwritten = self.unwritten.plus(cost);
    }

    const fn used(&self) -> Money {
        self.settled.plus(self.open)
    }

    /// True if what reservation `number` may cost is set aside in the store, false if the store refused it or
    /// could not be asked; `None`: undecided.
    pub fn covers(&self, number: u64) -> Option<bool> {
        match () {
            () if number <= self.covered_through || self.used() <= self.granted => Some(true),
            () if number <= self.refused_through => Some(false),
            () => None,
        }
    }

    /// Amount to set aside ahead of requests.
    fn ahead(&self, at_rest: bool) -> Money {
        if at_rest {
            return Money::ZERO;
        }
        let requests = Money(self.largest.0.saturating_mul(REQUESTS_AHEAD));
        self.cap.map_or(requests, |cap| {
            requests.min(Money(cap.0 / MOST_AHEAD)).max(Money(cap.0 / AHEAD))
        })
    }

    /// Claim to post to the store, if any. `at_rest`: nothing is set aside ahead.
    pub fn claim(&self, payer: Option<&str>, at_rest: bool) -> Option<Claim> {
        let ahead = self.ahead(at_rest);
        let free = self.granted.less(self.used());
        let owed = self.settled.less(self.granted);
        let need = self.used().less(self.granted).less(owed);
        // Asked for again when half of it is gone, so that a turn seldom waits.
        let is_low = free.0 < ahead.0.div_ceil(2) && !self.is_short;
        let want = if need > Money::ZERO || is_low { need.plus(ahead).less(free) } else { need };
        let returned = if at_rest { free } else { Money::ZERO };
        let amounts = [owed, need, returned, self.unwritten];
        let is_something = self.is_new || is_low || amounts.iter().any(|it| *it > Money::ZERO);
        // A refused amount stays refused, until something happens.
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

    /// Marks `claim` as posted: its amounts are not claimed again.
    pub fn posted(&mut self, claim: &Claim) {
        self.unwritten = self.unwritten.less(claim.spent);
        self.granted = self.granted.less(claim.returned);
        self.is_new = false;
    }

    /// Takes `claim` back: the store could not be asked for reservations up to `through`, so its spending is
    /// posted later. The amount to return may have been returned, so it is not used.
    pub fn unposted(&mut self, claim: &Claim, through: u64) {
        self.unwritten = self.unwritten.plus(claim.spent);
        self.refused_through = through;
        self.is_short = true;
    }

    /// Takes in the store's answer: the amount set aside for reservations up to `through`, and the total of
    /// all processes.
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

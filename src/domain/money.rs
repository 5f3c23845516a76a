//! Money, and what is asked of the ledger before it is spent.
//!
//! Entry types: [`Money`], [`Claim`], [`Granted`]. **Never**: knows a price.

/// An amount, in billionths of the currency of the prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub u64);

/// Billionths in a unit of the currency.
const BILLION: f64 = 1e9;

impl Money {
    /// No money at all.
    pub const ZERO: Self = Self(0);

    /// So many units of the currency; what is below zero is nothing.
    pub fn of(units: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast to an integer saturates, and there are no debts"
        )]
        Self((units * BILLION).round() as u64)
    }

    /// In units of the currency.
    pub fn units(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "nobody spends millions here")]
        let billionths = self.0 as f64;
        billionths / BILLION
    }

    /// The sum; more than can be counted is the most that can be.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The amount without `other`, nothing at least.
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Self::plus)
    }
}

/// A payer's request to set money aside, with its spending since the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// The payer within the account; `None`: the account as a whole.
    pub payer: Option<String>,
    /// Most that may be set aside, all of the account's time together; `None`: as much as is asked.
    pub cap: Option<Money>,
    /// Spent beyond what was set aside: it counts, whatever the cap is.
    pub owed: Money,
    /// Amount wanted; as much of it is granted as the cap allows.
    pub want: Money,
    /// Less than this is of no use.
    pub need: Money,
    /// Spent since the last claim.
    pub spent: Money,
    /// Set aside before, and not needed any more.
    pub returned: Money,
}

/// The store's answer to a [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The payer that claimed it.
    pub payer: Option<String>,
    /// Amount now set aside for them beyond what was before, the sum they owed included.
    pub granted: Money,
    /// Set aside and spent altogether by the account, or by this payer of it, this grant included.
    pub total: Money,
    /// Cap that did not allow the amount needed.
    pub refused: Option<Limit>,
}

/// The cap that a claim would have passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Of the account: of a play session, or of what is asked outside.
    Account,
    /// Of everything that an owner spends in a month.
    Month,
    /// Of one payer of the account.
    Payer,
}

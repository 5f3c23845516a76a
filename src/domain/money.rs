//! Money, and requests to the ledger.
//!
//! Entry types: [`Money`], [`Claim`], [`Granted`], [`Cost`]. **Never**: knows a price.

/// Billionths of the prices' currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(pub u64);

const BILLION: f64 = 1e9;

/// Payer of recognisers, which work for no NPC.
pub const HEARING: &str = "hearing";

impl Money {
    pub const ZERO: Self = Self(0);

    /// Negative amounts become zero.
    pub fn of(units: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast to an integer saturates, and there are no debts"
        )]
        Self((units * BILLION).round() as u64)
    }

    pub fn units(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "nobody spends millions here")]
        let billionths = self.0 as f64;
        billionths / BILLION
    }

    /// Saturating.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Saturating at zero.
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
    /// The payer within the account; `None`: the whole account.
    pub payer: Option<String>,
    /// Most that may be set aside over the account's lifetime; `None`: unlimited.
    pub cap: Option<Money>,
    /// Spent beyond the reservation: counts whatever the cap.
    pub owed: Money,
    /// Granted as far as the cap allows.
    pub want: Money,
    /// Smallest useful amount.
    pub need: Money,
    /// Spent since the last claim.
    pub spent: Money,
    /// Reserved before and not needed any more.
    pub returned: Money,
}

/// The store's answer to a [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    pub payer: Option<String>,
    /// Newly reserved amount, including the amount owed.
    pub granted: Money,
    /// Reserved and spent by the account, or by this payer of it, including this grant.
    pub total: Money,
    /// The cap that refused the needed amount.
    pub refused: Option<Limit>,
}

/// Money that a payer has spent on a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// An NPC's name, or [`HEARING`].
    pub payer: String,
    /// Name in the price list.
    pub service: String,
    /// Identity of the tool that it was spent for; empty: none.
    pub tool: String,
    pub spent: Money,
    /// Number of paid requests.
    pub requests: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Account,
    Month,
    Payer,
}

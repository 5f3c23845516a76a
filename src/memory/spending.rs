//! The ledger: money spent, and money reserved for running requests.
//!
//! Entry trait: [`Spending`]. Reserved money counts as spent until returned, so a killed program
//! leaves nothing uncounted. **Never**: knows a price.

use std::ops::RangeInclusive;

use super::StoreFuture;
use crate::domain::{Claim, Cost, Granted, Limit, Money, Scope};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(pub i64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRequest {
    pub name: String,
    /// Unix time in ms; an account begun earlier is replaced by a new one.
    pub since: i64,
    /// Unix time in ms.
    pub now: i64,
    /// Amount already spent by a new account.
    pub before: Money,
}

/// Changes of an account in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    pub account: AccountId,
    pub month: String,
    /// The owner's cap for that month, over all campaigns and accounts.
    pub month_max: Option<Money>,
    pub claims: Vec<Claim>,
    /// Expenses paid from the claims.
    pub costs: Vec<DayCost>,
}

/// Cost of one day and session; the store adds up those that differ in nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayCost {
    /// YYYY-MM-DD, in UTC.
    pub day: String,
    /// Id of the session; empty outside sessions.
    pub session: String,
    pub cost: Cost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthSpent {
    pub month: String,
    pub total: Money,
}

pub trait Spending: Send + Sync {
    /// The newest account of that name of the owner of `scope`, or a new one.
    fn account(&self, scope: &Scope, wanted: AccountRequest) -> StoreFuture<'_, AccountId>;

    /// Reserves the claims as far as the caps allow and books spent money, in one transaction;
    /// answers the claims in order.
    fn post(&self, scope: &Scope, posting: Posting) -> StoreFuture<'_, Vec<Granted>>;

    fn spent(&self, scope: &Scope) -> StoreFuture<'_, Vec<MonthSpent>>;

    /// Costs of these days, in order of day, session, payer, service and tool.
    fn costs(&self, scope: &Scope, days: RangeInclusive<String>) -> StoreFuture<'_, Vec<DayCost>>;
}

/// A cap and its current total.
pub(super) struct Room {
    pub cap: Option<Money>,
    pub total: Money,
    pub limit: Limit,
}

pub(super) struct Decided {
    /// Reserved amount, including the amount owed.
    pub granted: Money,
    pub refused: Option<Limit>,
}

/// Decides how much of `claim` to reserve within all `rooms`.
pub(super) fn decide(claim: &Claim, rooms: &[Room]) -> Decided {
    let left = |room: &Room| Some(room.cap?.less(room.total.plus(claim.owed)));
    let tightest = rooms.iter().min_by_key(|room| left(room).unwrap_or(Money(u64::MAX)));
    let most = tightest.and_then(left).unwrap_or(Money(u64::MAX));
    let granted = claim.want.min(most);
    if granted < claim.need {
        return Decided { granted: claim.owed, refused: tightest.map(|room| room.limit) };
    }
    Decided { granted: granted.plus(claim.owed), refused: None }
}

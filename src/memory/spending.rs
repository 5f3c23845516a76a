//! The ledger: what was spent, and what is set aside for requests that are under way.
//!
//! Entry trait: [`Spending`]. Money set aside counts as spent until it is returned, so that a
//! program that is killed leaves nothing uncounted. **Never**: knows a price, or what was bought.

use crate::domain::{Claim, Granted, Limit, Money, Scope};

use super::reply::StoreFuture;

/// The number of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccountId(pub i64);

/// The account to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRequest {
    /// Its name among the accounts of its owner; later ones may have it again.
    pub name: String,
    /// One that began earlier is over, and another begins; Unix time in ms.
    pub since: i64,
    /// The time now, Unix time in ms.
    pub now: i64,
    /// Amount that an account that begins now has spent already.
    pub before: Money,
}

/// Changes of an account in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The account that is spent from.
    pub account: AccountId,
    /// The month it is counted in, as YYYY-MM.
    pub month: String,
    /// Most that the owner of the account may set aside in that month, whatever campaigns and accounts.
    pub month_max: Option<Money>,
    /// Claims of its payers.
    pub claims: Vec<Claim>,
}

/// Spending of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthSpent {
    /// The month, as YYYY-MM.
    pub month: String,
    /// Amount spent in it, and set aside.
    pub total: Money,
}

/// Amounts spent, by payer and month.
pub trait Spending: Send + Sync {
    /// The newest account of that name of the owner of `scope`, or one that begins now.
    fn account(&self, scope: &Scope, wanted: AccountRequest) -> StoreFuture<'_, AccountId>;

    /// Sets aside what is claimed as far as the caps allow, and books what was spent, all in one
    /// transaction; an answer for each claim, in their order.
    fn post(&self, scope: &Scope, posting: Posting) -> StoreFuture<'_, Vec<Granted>>;

    /// Amounts spent for `scope`, the latest month first.
    fn spent(&self, scope: &Scope) -> StoreFuture<'_, Vec<MonthSpent>>;
}

/// A cap, and what counts against it.
pub(super) struct Room {
    /// The cap; `None`: there is none.
    pub cap: Option<Money>,
    /// Amount that counts against it.
    pub total: Money,
    /// Kind of the cap.
    pub limit: Limit,
}

/// Decision about a claim.
pub(super) struct Decided {
    /// Amount set aside, that which is owed included.
    pub granted: Money,
    /// Kind of the cap that did not allow what was needed.
    pub refused: Option<Limit>,
}

/// Decides how much of `claim` is set aside, so that all of `rooms` are kept to.
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

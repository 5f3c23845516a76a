//! The ledger in the file.
//!
//! Entry: [`Spending`] of [`Sqlite`]. Concurrent programs cannot exceed a cap: only one writes at a
//! time.

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::{
    super::{
        AccountId, AccountRequest, Error, MonthSpent, Posting, Spending, StoreFuture,
        spending::{Decided, Room, decide},
    },
    failure,
    store::Sqlite,
};
use crate::domain::{Claim, Granted, Limit, Money, Scope};

const OF_PAYER: &str =
    "SELECT coalesce(sum(taken), 0) FROM spending WHERE account = ? AND payer = ?";
const OF_MONTH: &str = "SELECT coalesce(sum(s.taken), 0) FROM spending s JOIN account a \
                        ON a.id = s.account WHERE a.owner = ? AND s.month = ? AND s.payer = ''";
const PUT: &str = "INSERT INTO spending (account, payer, month, campaign, taken, spent) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?7) ON CONFLICT DO UPDATE SET \
                   taken = max(taken + ?5 - ?6, 0), spent = spent + ?7";

impl Spending for Sqlite {
    fn account(&self, scope: &Scope, wanted: AccountRequest) -> StoreFuture<'_, AccountId> {
        let scope = scope.clone();
        self.writer.write(move |db| account(db, &scope, &wanted)).boxed()
    }

    fn post(&self, scope: &Scope, posting: Posting) -> StoreFuture<'_, Vec<Granted>> {
        let scope = scope.clone();
        let post = move |db: &Connection| {
            let claims = posting.claims.iter();
            claims.map(|claim| grant(db, &scope, &posting, claim)).collect()
        };
        self.writer.write(post).boxed()
    }

    fn spent(&self, scope: &Scope) -> StoreFuture<'_, Vec<MonthSpent>> {
        let (owner, campaign) = (scope.owner.word(), scope.campaign.0.clone());
        let look = move |db: &Connection| {
            let sql = "SELECT s.month, sum(s.taken) FROM spending s JOIN account a ON a.id = s.account \
                       WHERE a.owner = ? AND s.campaign = ? AND s.payer = '' \
                       GROUP BY s.month ORDER BY s.month DESC";
            let read =
                |row: &Row<'_>| Ok(MonthSpent { month: row.get(0)?, total: Money(row.get(1)?) });
            let mut months = db.prepare_cached(sql).map_err(failure)?;
            let months = months.query_map([owner, campaign], read).map_err(failure)?;
            months.collect::<Result<_, _>>().map_err(failure)
        };
        self.readers.read(look).boxed()
    }
}

fn account(db: &Connection, scope: &Scope, wanted: &AccountRequest) -> Result<AccountId, Error> {
    let owner = scope.owner.word();
    let newest = "SELECT id FROM account WHERE owner = ? AND name = ? AND began >= ? \
                  ORDER BY began DESC LIMIT 1";
    let known = db.query_row(newest, params![owner, wanted.name, wanted.since], |row| row.get(0));
    if let Some(id) = known.optional().map_err(failure)? {
        return Ok(AccountId(id));
    }
    let begin = "INSERT INTO account (owner, name, began) VALUES (?, ?, ?)";
    db.execute(begin, params![owner, wanted.name, wanted.now]).map_err(failure)?;
    let id = db.last_insert_rowid();
    if wanted.before > Money::ZERO {
        // Money spent before the ledger existed has no month.
        let before = wanted.before.0.cast_signed();
        db.execute(PUT, params![id, "", "", scope.campaign.0, before, 0, before])
            .map_err(failure)?;
    }
    Ok(AccountId(id))
}

fn grant(
    db: &Connection,
    scope: &Scope,
    posting: &Posting,
    claim: &Claim,
) -> Result<Granted, Error> {
    let sum = |sql: &str, of: &[&dyn ToSql]| {
        let sum = db.prepare_cached(sql).and_then(|mut sum| sum.query_row(of, |row| row.get(0)));
        sum.map(Money).map_err(failure)
    };
    let payer = claim.payer.as_deref().unwrap_or_default();
    let limit = if claim.payer.is_some() { Limit::Payer } else { Limit::Account };
    let total = sum(OF_PAYER, &[&posting.account.0, &payer])?;
    let mut rooms = vec![Room { cap: claim.cap, total, limit }];
    if claim.payer.is_none() && posting.month_max.is_some() {
        let total = sum(OF_MONTH, &[&scope.owner.word(), &posting.month])?;
        rooms.push(Room { cap: posting.month_max, total, limit: Limit::Month });
    }
    let Decided { granted, refused } = decide(claim, &rooms);
    let (month, campaign) = (&posting.month, &scope.campaign.0);
    let (returned, spent) = (claim.returned.0.cast_signed(), claim.spent.0.cast_signed());
    let taken = granted.0.cast_signed();
    let mut put = db.prepare_cached(PUT).map_err(failure)?;
    put.execute(params![posting.account.0, payer, month, campaign, taken, returned, spent])
        .map_err(failure)?;
    let total = sum(OF_PAYER, &[&posting.account.0, &payer])?;
    Ok(Granted { payer: claim.payer.clone(), granted, total, refused })
}

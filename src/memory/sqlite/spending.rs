//! The ledger in the file.
//!
//! Entry: [`Spending`] of [`Sqlite`]. Concurrent programs cannot exceed a cap: only one writes at a
//! time.

use std::ops::RangeInclusive;

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::{
    super::{
        AccountId, AccountRequest, DayCost, Error, MonthSpent, Posting, Spending, StoreFuture,
        spending::{Decided, Room, decide},
    },
    failure,
    store::Sqlite,
};
use crate::domain::{Claim, Cost, Granted, Limit, Money, Scope};

const OF_PAYER: &str =
    "SELECT coalesce(sum(taken), 0) FROM spending WHERE account = ? AND payer = ?";
const OF_MONTH: &str = "SELECT coalesce(sum(s.taken), 0) FROM spending s JOIN account a \
                        ON a.id = s.account WHERE a.owner = ? AND s.month = ? AND s.payer = ''";
const PUT: &str = "INSERT INTO spending (account, payer, month, campaign, taken, spent) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?7) ON CONFLICT DO UPDATE SET \
                   taken = max(taken + ?5 - ?6, 0), spent = spent + ?7";

const ADD_COST: &str = "INSERT INTO cost (account, day, session, payer, service, tool, campaign, spent, requests) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET \
     spent = spent + excluded.spent, requests = requests + excluded.requests";
const COSTS: &str = "SELECT c.day, c.session, c.payer, c.service, c.tool, sum(c.spent), \
                     sum(c.requests) FROM cost c JOIN account a ON a.id = c.account \
                     WHERE a.owner = ? AND c.campaign = ? AND c.day BETWEEN ? AND ? \
                     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5";

impl Spending for Sqlite {
    fn account(&self, scope: &Scope, wanted: AccountRequest) -> StoreFuture<'_, AccountId> {
        let scope = scope.clone();
        self.writer.write(move |db| account(db, &scope, &wanted)).boxed()
    }

    fn post(&self, scope: &Scope, posting: Posting) -> StoreFuture<'_, Vec<Granted>> {
        let scope = scope.clone();
        self.writer.write(move |db| post(db, &scope, &posting)).boxed()
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

    fn costs(&self, scope: &Scope, days: RangeInclusive<String>) -> StoreFuture<'_, Vec<DayCost>> {
        let (owner, campaign) = (scope.owner.word(), scope.campaign.0.clone());
        let (from, to) = days.into_inner();
        let look = move |db: &Connection| {
            let mut costs = db.prepare_cached(COSTS).map_err(failure)?;
            let of = params![owner, campaign, from, to];
            let costs = costs.query_map(of, day_cost).map_err(failure)?;
            costs.collect::<Result<_, _>>().map_err(failure)
        };
        self.readers.read(look).boxed()
    }
}

fn post(db: &Connection, scope: &Scope, posting: &Posting) -> Result<Vec<Granted>, Error> {
    for cost in &posting.costs {
        add(db, scope, posting.account, cost)?;
    }
    posting.claims.iter().map(|claim| grant(db, scope, posting, claim)).collect()
}

fn add(db: &Connection, scope: &Scope, account: AccountId, of: &DayCost) -> Result<(), Error> {
    let DayCost { day, session, cost: Cost { payer, service, tool, spent, requests } } = of;
    let (spent, requests) = (spent.0.cast_signed(), requests.cast_signed());
    let campaign = &scope.campaign.0;
    let mut add = db.prepare_cached(ADD_COST).map_err(failure)?;
    let of = params![account.0, day, session, payer, service, tool, campaign, spent, requests];
    add.execute(of).map(drop).map_err(failure)
}

fn day_cost(row: &Row<'_>) -> Result<DayCost, rusqlite::Error> {
    let cost = Cost {
        payer: row.get(2)?,
        service: row.get(3)?,
        tool: row.get(4)?,
        spent: Money(row.get(5)?),
        requests: row.get(6)?,
    };
    Ok(DayCost { day: row.get(0)?, session: row.get(1)?, cost })
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

//! The ledger in PostgreSQL.
//!
//! Entry: [`Spending`] of [`Postgres`]. Concurrent programs cannot exceed a cap: a posting holds
//! its owner's lock until it is written.

use std::ops::RangeInclusive;

use deadpool_postgres::{GenericClient, Transaction};

use super::{
    sql::{Sql, count, number, plain},
    store::{Postgres, within},
};
use crate::{
    domain::{Claim, Cost, Granted, Limit, Money, Scope, fnv1a},
    memory::{
        AccountId, AccountRequest, DayCost, Error, MonthSpent, Posting, Spending, StoreFuture,
        spending::{Decided, Room, decide},
    },
};

impl Spending for Postgres {
    fn account(&self, scope: &Scope, wanted: AccountRequest) -> StoreFuture<'_, AccountId> {
        let scope = scope.clone();
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            lock(&work, &scope).await?;
            let id = account(&work, &scope, &wanted).await?;
            work.commit().await?;
            Ok(id)
        }))
    }

    fn post(&self, scope: &Scope, posting: Posting) -> StoreFuture<'_, Vec<Granted>> {
        let scope = scope.clone();
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            lock(&work, &scope).await?;
            let mut all = Vec::new();
            for claim in &posting.claims {
                all.push(grant(&work, &scope, &posting, claim).await?);
            }
            for cost in &posting.costs {
                add(&work, &scope, posting.account, cost).await?;
            }
            work.commit().await?;
            Ok(all)
        }))
    }

    fn spent(&self, scope: &Scope) -> StoreFuture<'_, Vec<MonthSpent>> {
        let scope = scope.clone();
        Box::pin(within(async move {
            let mut sql = Sql::new(
                "SELECT s.month, sum(s.taken)::bigint FROM spending s JOIN account a \
                 ON a.id = s.account WHERE s.payer = '' AND a.owner = ",
            );
            sql.bind(scope.owner.word()).push(" AND s.campaign = ").bind(plain(&scope.campaign.0));
            sql.push(" GROUP BY s.month ORDER BY s.month DESC");
            let rows = sql.query(&self.client().await?).await?;
            let month = |row: &tokio_postgres::Row| {
                Ok(MonthSpent { month: row.try_get(0)?, total: Money(count(row, 1)?) })
            };
            rows.iter().map(month).collect()
        }))
    }

    fn costs(&self, scope: &Scope, days: RangeInclusive<String>) -> StoreFuture<'_, Vec<DayCost>> {
        let scope = scope.clone();
        Box::pin(within(async move {
            let mut sql = Sql::new(
                "SELECT c.day, c.session, c.payer, c.service, c.tool, sum(c.spent)::bigint, \
                 sum(c.requests)::bigint FROM cost c JOIN account a ON a.id = c.account \
                 WHERE a.owner = ",
            );
            sql.bind(scope.owner.word()).push(" AND c.campaign = ").bind(plain(&scope.campaign.0));
            let (from, to) = days.into_inner();
            sql.push(" AND c.day BETWEEN ").bind(from).push(" AND ").bind(to);
            // In the order of their bytes, as in a file.
            sql.push(
                " GROUP BY 1, 2, 3, 4, 5 ORDER BY c.day COLLATE \"C\", c.session COLLATE \"C\", ",
            );
            sql.push("c.payer COLLATE \"C\", c.service COLLATE \"C\", c.tool COLLATE \"C\"");
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(day_cost).collect()
        }))
    }
}

fn day_cost(row: &tokio_postgres::Row) -> Result<DayCost, Error> {
    let cost = Cost {
        payer: row.try_get(2)?,
        service: row.try_get(3)?,
        tool: row.try_get(4)?,
        spent: Money(count(row, 5)?),
        requests: count(row, 6)?,
    };
    Ok(DayCost { day: row.try_get(0)?, session: row.try_get(1)?, cost })
}

async fn add(
    work: &Transaction<'_>,
    scope: &Scope,
    account: AccountId,
    of: &DayCost,
) -> Result<(), Error> {
    let DayCost { day, session, cost } = of;
    let mut sql = Sql::new(
        "INSERT INTO cost AS it (account, day, session, payer, service, tool, campaign, spent, \
         requests) VALUES (",
    );
    sql.bind(account.0).push(", ").bind(day.clone());
    for text in [session, &cost.payer, &cost.service, &cost.tool, &scope.campaign.0] {
        sql.push(", ").bind(plain(text));
    }
    sql.push(", ").bind(number(cost.spent.0)?).push(", ").bind(number(cost.requests)?);
    sql.push(
        ") ON CONFLICT (account, day, session, payer, service, tool, campaign) DO UPDATE SET \
         spent = it.spent + excluded.spent, requests = it.requests + excluded.requests",
    );
    sql.execute(work).await.map(drop)
}

/// Blocks other postings for the owner of `scope` until the end of the transaction.
async fn lock(work: &Transaction<'_>, scope: &Scope) -> Result<(), Error> {
    let mut sql = Sql::new("SELECT pg_advisory_xact_lock(");
    sql.bind(fnv1a(scope.owner.word().bytes().chain(*b" ledger")).cast_signed()).push(")");
    sql.query(work).await.map(drop)
}

async fn account(
    work: &Transaction<'_>,
    scope: &Scope,
    wanted: &AccountRequest,
) -> Result<AccountId, Error> {
    let (owner, name) = (scope.owner.word(), plain(&wanted.name));
    let mut sql = Sql::new("SELECT id FROM account WHERE owner = ");
    sql.bind(owner.clone()).push(" AND name = ").bind(name.clone()).push(" AND began >= ");
    sql.bind(wanted.since).push(" ORDER BY began DESC LIMIT 1");
    if let Some(row) = sql.query(work).await?.first() {
        return Ok(AccountId(row.try_get(0)?));
    }
    let mut sql = Sql::new("INSERT INTO account (owner, name, began) VALUES (");
    sql.bind(owner).push(", ").bind(name).push(", ").bind(wanted.now).push(") RETURNING id");
    let rows = sql.query(work).await?;
    let id = match rows.first() {
        Some(row) => AccountId(row.try_get(0)?),
        None => return Err(Error::Failed("a new account has no number".to_owned())),
    };
    if wanted.before > Money::ZERO {
        // Money spent before the ledger existed has no month.
        let before = wanted.before;
        let row =
            Taken { payer: "", month: "", granted: before, returned: Money::ZERO, spent: before };
        put(work, scope, id, row).await?;
    }
    Ok(id)
}

/// Sets aside money for `claim` of `posting`.
async fn grant(
    work: &Transaction<'_>,
    scope: &Scope,
    posting: &Posting,
    claim: &Claim,
) -> Result<Granted, Error> {
    let payer = claim.payer.as_deref().unwrap_or_default();
    let limit = if claim.payer.is_some() { Limit::Payer } else { Limit::Account };
    let total = of_payer(work, posting.account, payer).await?;
    let mut rooms = vec![Room { cap: claim.cap, total, limit }];
    if claim.payer.is_none() && posting.month_max.is_some() {
        let mut sql = Sql::new(
            "SELECT coalesce(sum(s.taken), 0)::bigint FROM spending s JOIN account a \
             ON a.id = s.account WHERE s.payer = '' AND a.owner = ",
        );
        sql.bind(scope.owner.word()).push(" AND s.month = ").bind(posting.month.clone());
        rooms.push(Room {
            cap: posting.month_max,
            total: sum(work, &sql).await?,
            limit: Limit::Month,
        });
    }
    let Decided { granted, refused } = decide(claim, &rooms);
    let (month, returned, spent) = (&*posting.month, claim.returned, claim.spent);
    let row = Taken { payer, month, granted, returned, spent };
    put(work, scope, posting.account, row).await?;
    let total = of_payer(work, posting.account, payer).await?;
    Ok(Granted { payer: claim.payer.clone(), granted, total, refused })
}

async fn sum(work: &impl GenericClient, sql: &Sql) -> Result<Money, Error> {
    let rows = sql.query(work).await?;
    rows.first().map_or(Ok(Money::ZERO), |row| count(row, 0).map(Money))
}

async fn of_payer(
    work: &impl GenericClient,
    account: AccountId,
    payer: &str,
) -> Result<Money, Error> {
    let mut sql = Sql::new("SELECT coalesce(sum(taken), 0)::bigint FROM spending WHERE account = ");
    sql.bind(account.0).push(" AND payer = ").bind(plain(payer));
    sum(work, &sql).await
}

struct Taken<'a> {
    payer: &'a str,
    month: &'a str,
    granted: Money,
    returned: Money,
    spent: Money,
}

async fn put(
    work: &impl GenericClient,
    scope: &Scope,
    account: AccountId,
    row: Taken<'_>,
) -> Result<(), Error> {
    let Taken { payer, month, granted, returned, spent } = row;
    let mut sql = Sql::new(
        "INSERT INTO spending AS it (account, payer, month, campaign, taken, spent) VALUES (",
    );
    sql.bind(account.0).push(", ").bind(plain(payer)).push(", ").bind(month.to_owned());
    sql.push(", ").bind(plain(&scope.campaign.0)).push(", ").bind(number(granted.0)?);
    sql.push(", ").bind(number(spent.0)?);
    sql.push(
        ") ON CONFLICT (account, payer, month, campaign) DO UPDATE SET \
         spent = it.spent + excluded.spent, taken = greatest(0, it.taken + excluded.taken - ",
    );
    sql.bind(number(returned.0)?).push(")");
    sql.execute(work).await.map(drop)
}

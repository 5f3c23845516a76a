//! Runs of workflows and schedules in PostgreSQL.
//!
//! Entry: [`Automation`] of [`Postgres`]; [`forget`] and [`forget_runs`] delete from them. A claim
//! is one statement: a second program waits for the first, and then finds another next time.

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::Row;

use super::{
    sql::{Sql, plain},
    store::{Postgres, within},
};
use crate::{
    domain::{PersonId, Timestamp},
    memory::{
        Automation, Claim, Error, KeptRun, KeptSchedule, Scope, StoreFuture, automation::RUNS_MAX,
    },
};

impl Automation for Postgres {
    fn keep_run<'a>(&'a self, scope: &'a Scope, run: KeptRun) -> StoreFuture<'a, ()> {
        Box::pin(within(async move {
            let mut client = self.client().await?;
            let work = client.transaction().await?;
            if let Some(lease) = self.needed_lease(scope.owner)? {
                lease.hold(&work).await?;
            }
            keep_run(&work, scope, run).await?;
            Ok(work.commit().await?)
        }))
    }

    fn runs<'a>(&'a self, scope: &'a Scope, most: usize) -> StoreFuture<'a, Vec<KeptRun>> {
        Box::pin(within(async move { runs(&self.client().await?, scope, most).await }))
    }

    fn add_schedule<'a>(&'a self, scope: &'a Scope, schedule: KeptSchedule) -> StoreFuture<'a, ()> {
        Box::pin(within(async move {
            let KeptSchedule { id, when, action, by, made, next, last } = schedule;
            let mut sql = Sql::new(
                "INSERT INTO schedule (scope, id, timing, action, made_by, made_at, next_at, \
                 last_at) VALUES (",
            );
            sql.bind(plain(&scope.key())).push(", ").bind(plain(&id)).push(", ").bind(plain(&when));
            sql.push(", ").bind(plain(&action)).push(", ").bind(by.map(|by| plain(&by.0)));
            sql.push(", ").bind(made).push(", ").bind(next).push(", ").bind(last);
            sql.push(") ON CONFLICT (scope, id) DO NOTHING");
            sql.execute(&self.client().await?).await.map(drop)
        }))
    }

    fn schedules<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Vec<KeptSchedule>> {
        Box::pin(within(async move { schedules(&self.client().await?, scope).await }))
    }

    fn due_schedules<'a>(
        &'a self,
        scope: &'a Scope,
        until: Timestamp,
        has_session: bool,
    ) -> StoreFuture<'a, Vec<KeptSchedule>> {
        Box::pin(within(async move {
            let mut sql = of_scope(scope);
            sql.push(" AND (next_at <= ").bind(until).push(" OR next_at = last_at + 1");
            if has_session {
                sql.push(" OR next_at IS NULL AND last_at IS NULL");
            }
            sql.push(")");
            read(&self.client().await?, sql).await
        }))
    }

    fn remove_schedule<'a>(&'a self, scope: &'a Scope, id: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(within(async move {
            let mut sql = Sql::new("DELETE FROM schedule WHERE scope = ");
            sql.bind(plain(&scope.key())).push(" AND id = ").bind(plain(id));
            Ok(sql.execute(&self.client().await?).await? > 0)
        }))
    }

    fn claim_schedule<'a>(&'a self, scope: &'a Scope, claim: Claim<'a>) -> StoreFuture<'a, bool> {
        Box::pin(within(async move {
            let mut sql = if claim.is_over {
                Sql::new("DELETE FROM schedule")
            } else {
                let mut sql = Sql::new("UPDATE schedule SET next_at = ");
                sql.bind(claim.then).push(", last_at = coalesce(").bind(claim.due);
                sql.push(", last_at)");
                sql
            };
            sql.push(" WHERE scope = ").bind(plain(&scope.key()));
            sql.push(" AND id = ").bind(plain(claim.id));
            sql.push(" AND next_at IS NOT DISTINCT FROM ").bind(claim.due);
            Ok(sql.execute(&self.client().await?).await? > 0)
        }))
    }
}

/// Removes a person from runs begun, and schedules made, before a Unix time in ms.
pub(super) async fn forget(
    work: &Transaction<'_>,
    scope: &Scope,
    person: &str,
    before: Timestamp,
) -> Result<(), Error> {
    // Another program may be writing the end of a run.
    let mut lock = Sql::new("SELECT 1 FROM run WHERE scope = ");
    lock.bind(plain(&scope.key())).push(" FOR UPDATE").query(work).await?;
    for mut kept in runs(work, scope, 0).await? {
        if kept.forget(person, before) {
            let mut sql = Sql::new("UPDATE run SET record = ");
            sql.bind(kept.record).push(" WHERE scope = ").bind(plain(&scope.key()));
            sql.push(" AND id = ").bind(kept.id);
            sql.execute(work).await?;
        }
    }
    for mut kept in schedules(work, scope).await? {
        if kept.forget(person, before) {
            let mut sql = Sql::new("UPDATE schedule SET action = ");
            sql.bind(kept.action).push(", made_by = ").bind(kept.by.map(|by| by.0));
            sql.push(" WHERE scope = ").bind(plain(&scope.key()));
            sql.push(" AND id = ").bind(kept.id);
            sql.execute(work).await?;
        }
    }
    Ok(())
}

/// Removes runs begun before a Unix time in ms.
pub(super) async fn forget_runs(
    work: &Transaction<'_>,
    scope: &Scope,
    before: Timestamp,
) -> Result<(), Error> {
    let mut sql = Sql::new("DELETE FROM run WHERE scope = ");
    sql.bind(plain(&scope.key())).push(" AND began < ").bind(before);
    sql.execute(work).await.map(drop)
}

async fn keep_run(work: &Transaction<'_>, scope: &Scope, mut run: KeptRun) -> Result<(), Error> {
    let (key, id) = (plain(&scope.key()), plain(&run.id));
    let mut stored = Sql::new("SELECT record FROM run WHERE scope = ");
    stored.bind(key.clone()).push(" AND id = ").bind(id.clone()).push(" FOR UPDATE");
    if let Some(row) = stored.query(work).await?.first() {
        run.stay_deleted(row.try_get(0)?);
    }
    let mut sql = Sql::new("INSERT INTO run (scope, id, workflow, began, ended, record) VALUES (");
    sql.bind(key.clone()).push(", ").bind(id).push(", ").bind(plain(&run.workflow));
    sql.push(", ").bind(run.began).push(", ").bind(run.ended).push(", ").bind(plain(&run.record));
    sql.push(
        ") ON CONFLICT (scope, id) DO UPDATE SET workflow = excluded.workflow, \
         began = excluded.began, ended = excluded.ended, record = excluded.record",
    );
    sql.execute(work).await?;
    let mut oldest = Sql::new("DELETE FROM run WHERE scope = ");
    oldest.bind(key.clone()).push(" AND id NOT IN (SELECT id FROM run WHERE scope = ").bind(key);
    oldest.push(" ORDER BY began DESC, id COLLATE \"C\" DESC").limit(RUNS_MAX).push(")");
    oldest.execute(work).await.map(drop)
}

async fn runs(
    client: &impl GenericClient,
    scope: &Scope,
    most: usize,
) -> Result<Vec<KeptRun>, Error> {
    let mut sql = Sql::new("SELECT id, workflow, began, ended, record FROM run WHERE scope = ");
    sql.bind(plain(&scope.key())).push(" ORDER BY began DESC, id COLLATE \"C\" DESC").limit(most);
    let kept = |row: &Row| {
        Ok(KeptRun {
            id: row.try_get(0)?,
            workflow: row.try_get(1)?,
            began: row.try_get(2)?,
            ended: row.try_get(3)?,
            record: row.try_get(4)?,
        })
    };
    sql.query(client).await?.iter().map(kept).collect()
}

async fn schedules(client: &impl GenericClient, scope: &Scope) -> Result<Vec<KeptSchedule>, Error> {
    read(client, of_scope(scope)).await
}

/// Begins a query of the schedules of a scope.
fn of_scope(scope: &Scope) -> Sql {
    let mut sql = Sql::new(
        "SELECT id, timing, action, made_by, made_at, next_at, last_at FROM schedule \
         WHERE scope = ",
    );
    sql.bind(plain(&scope.key()));
    sql
}

async fn read(client: &impl GenericClient, mut sql: Sql) -> Result<Vec<KeptSchedule>, Error> {
    sql.push(" ORDER BY next_at NULLS LAST, made_at, id COLLATE \"C\"");
    let kept = |row: &Row| {
        Ok(KeptSchedule {
            id: row.try_get(0)?,
            when: row.try_get(1)?,
            action: row.try_get(2)?,
            by: row.try_get::<_, Option<String>>(3)?.map(PersonId),
            made: row.try_get(4)?,
            next: row.try_get(5)?,
            last: row.try_get(6)?,
        })
    };
    sql.query(client).await?.iter().map(kept).collect()
}

//! Runs of workflows and schedules in the file.
//!
//! Entry: [`Automation`] of [`Sqlite`]; [`forget`] and [`forget_runs`] delete from them. Programs
//! write one after another, so only one finds the next time of a schedule unchanged.

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::{
    super::{
        Automation, Claim, Error, KeptRun, KeptSchedule, Scope, StoreFuture, automation::RUNS_MAX,
    },
    campaign, campaign_made, failure,
    rows::limit,
    run,
    store::Sqlite,
};
use crate::domain::{PersonId, Timestamp};

const RUN: &str = "key, workflow, began, ended, record";
const SCHEDULE: &str = "key, timing, action, made_by, made_at, next_at, last_at";
/// See [`Automation::due_schedules`]; `?2` is the time and `?3` whether there is a session.
const DUE: &str = "next_at <= ?2 OR next_at = last_at + 1
    OR (?3 AND next_at IS NULL AND last_at IS NULL)";

impl Automation for Sqlite {
    fn keep_run<'a>(&'a self, scope: &'a Scope, run: KeptRun) -> StoreFuture<'a, ()> {
        let key = scope.key();
        self.writer.write(move |db| keep_run(db, &key, run)).boxed()
    }

    fn runs<'a>(&'a self, scope: &'a Scope, most: usize) -> StoreFuture<'a, Vec<KeptRun>> {
        let key = scope.key();
        self.readers.read(move |db| runs(db, campaign(db, &key)?, most)).boxed()
    }

    fn add_schedule<'a>(&'a self, scope: &'a Scope, schedule: KeptSchedule) -> StoreFuture<'a, ()> {
        let key = scope.key();
        let add = move |db: &Connection| {
            let campaign = campaign_made(db, &key)?;
            let sql = format!(
                "INSERT INTO schedule (campaign, {SCHEDULE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT DO NOTHING"
            );
            let KeptSchedule { id, when, action, by, made, next, last } = schedule;
            let by = by.map(|by| by.0);
            run(db, &sql, params![campaign, id, when, action, by, made, next, last]).map(drop)
        };
        self.writer.write(add).boxed()
    }

    fn schedules<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Vec<KeptSchedule>> {
        let key = scope.key();
        self.readers.read(move |db| schedules(db, campaign(db, &key)?)).boxed()
    }

    fn due_schedules<'a>(
        &'a self,
        scope: &'a Scope,
        until: Timestamp,
        has_session: bool,
    ) -> StoreFuture<'a, Vec<KeptSchedule>> {
        let key = scope.key();
        let due = move |db: &Connection| {
            let given = params![campaign(db, &key)?, until, has_session];
            select(db, &format!("campaign = ?1 AND ({DUE})"), given)
        };
        self.readers.read(due).boxed()
    }

    fn remove_schedule<'a>(&'a self, scope: &'a Scope, id: &'a str) -> StoreFuture<'a, bool> {
        let (key, id) = (scope.key(), id.to_owned());
        let remove = move |db: &Connection| {
            let sql = "DELETE FROM schedule WHERE campaign = ? AND key = ?";
            Ok(run(db, sql, params![campaign(db, &key)?, id])? > 0)
        };
        self.writer.write(remove).boxed()
    }

    fn claim_schedule<'a>(&'a self, scope: &'a Scope, claim: Claim<'a>) -> StoreFuture<'a, bool> {
        let (key, id) = (scope.key(), claim.id.to_owned());
        let Claim { due, then, is_over, .. } = claim;
        let take = move |db: &Connection| {
            let campaign = campaign(db, &key)?;
            let taken = if is_over {
                let sql = "DELETE FROM schedule WHERE campaign = ? AND key = ? AND next_at IS ?";
                run(db, sql, params![campaign, id, due])?
            } else {
                let sql = "UPDATE schedule SET last_at = coalesce(?3, last_at), next_at = ?4
                     WHERE campaign = ?1 AND key = ?2 AND next_at IS ?3";
                run(db, sql, params![campaign, id, due, then])?
            };
            Ok(taken > 0)
        };
        self.writer.write(take).boxed()
    }
}

/// Removes a person from runs begun, and schedules made, before a Unix time in ms.
pub fn forget(
    db: &Connection,
    campaign: i64,
    person: &str,
    before: Timestamp,
) -> Result<(), Error> {
    for mut kept in runs(db, campaign, 0)? {
        if kept.forget(person, before) {
            let sql = "UPDATE run SET record = ? WHERE campaign = ? AND key = ?";
            run(db, sql, params![kept.record, campaign, kept.id])?;
        }
    }
    for mut kept in schedules(db, campaign)? {
        if kept.forget(person, before) {
            let sql = "UPDATE schedule SET action = ?, made_by = ? WHERE campaign = ? AND key = ?";
            let by = kept.by.map(|by| by.0);
            run(db, sql, params![kept.action, by, campaign, kept.id])?;
        }
    }
    Ok(())
}

/// Removes runs begun before a Unix time in ms.
pub fn forget_runs(db: &Connection, campaign: i64, before: Timestamp) -> Result<(), Error> {
    let sql = "DELETE FROM run WHERE campaign = ? AND began < ?";
    run(db, sql, params![campaign, before]).map(drop)
}

fn keep_run(db: &Connection, key: &str, mut kept: KeptRun) -> Result<(), Error> {
    let campaign = campaign_made(db, key)?;
    let stored = "SELECT record FROM run WHERE campaign = ? AND key = ?";
    let stored: Option<String> = db
        .query_row(stored, params![campaign, kept.id], |row| row.get(0))
        .optional()
        .map_err(failure)?;
    if let Some(stored) = stored {
        kept.stay_deleted(&stored);
    }
    let put = format!(
        "INSERT INTO run (campaign, {RUN}) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (campaign, key) DO UPDATE SET workflow = excluded.workflow,
         began = excluded.began, ended = excluded.ended, record = excluded.record"
    );
    let KeptRun { id, workflow, began, ended, record } = kept;
    run(db, &put, params![campaign, id, workflow, began, ended, record])?;
    let oldest = "DELETE FROM run WHERE campaign = ?1 AND id NOT IN (
         SELECT id FROM run WHERE campaign = ?1 ORDER BY began DESC, key DESC LIMIT ?2)";
    run(db, oldest, params![campaign, limit(RUNS_MAX)]).map(drop)
}

fn runs(db: &Connection, campaign: i64, most: usize) -> Result<Vec<KeptRun>, Error> {
    let sql =
        format!("SELECT {RUN} FROM run WHERE campaign = ? ORDER BY began DESC, key DESC LIMIT ?");
    let mut all = db.prepare_cached(&sql).map_err(failure)?;
    let all = all.query_map(params![campaign, limit(most)], kept_run).map_err(failure)?;
    all.collect::<Result<_, _>>().map_err(failure)
}

fn kept_run(row: &Row<'_>) -> rusqlite::Result<KeptRun> {
    Ok(KeptRun {
        id: row.get(0)?,
        workflow: row.get(1)?,
        began: row.get(2)?,
        ended: row.get(3)?,
        record: row.get(4)?,
    })
}

fn schedules(db: &Connection, campaign: i64) -> Result<Vec<KeptSchedule>, Error> {
    select(db, "campaign = ?", params![campaign])
}

fn select(
    db: &Connection,
    condition: &str,
    given: &[&dyn ToSql],
) -> Result<Vec<KeptSchedule>, Error> {
    let sql = format!(
        "SELECT {SCHEDULE} FROM schedule WHERE {condition}
         ORDER BY next_at IS NULL, next_at, made_at, key"
    );
    let mut all = db.prepare_cached(&sql).map_err(failure)?;
    let all = all.query_map(given, kept_schedule).map_err(failure)?;
    all.collect::<Result<_, _>>().map_err(failure)
}

fn kept_schedule(row: &Row<'_>) -> rusqlite::Result<KeptSchedule> {
    Ok(KeptSchedule {
        id: row.get(0)?,
        when: row.get(1)?,
        action: row.get(2)?,
        by: row.get::<_, Option<String>>(3)?.map(PersonId),
        made: row.get(4)?,
        next: row.get(5)?,
        last: row.get(6)?,
    })
}

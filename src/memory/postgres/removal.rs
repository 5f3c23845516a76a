//! Withdrawing and deleting lines in PostgreSQL.
//!
//! Entry: `Postgres::take_back`, `Postgres::remove`. **Never**: leaves data derived from a removed
//! line.

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::{
    automation,
    sql::{Sql, count, plain, scope_word},
    store::Postgres,
};
use crate::memory::{Error, Forget, Forgotten, Scope, Uid};

/// Columns emptied in a withdrawn line. Its place, identity and speaker stay.
const WITHDRAWN: &str = "text = '', raw = NULL, tools = 'null', withdrawn = true, indexed = false";
/// Further columns emptied in a deleted person's line, or in an answer to one.
const FORGOTTEN: &str = ", speaker_id = NULL, speaker = '', character = NULL, said_by = '{}', \
                         asker = NULL, asked_at = NULL";

#[derive(Default)]
struct Gone {
    sessions: Vec<String>,
    seqs: Vec<i64>,
    uids: Vec<String>,
}

impl Postgres {
    pub(super) async fn take_back(
        &self,
        scope: &Scope,
        lines: Vec<Uid>,
    ) -> Result<Forgotten, Error> {
        let mut client = self.client().await?;
        let work = client.transaction().await?;
        let mut sql = emptying(scope, "");
        sql.push(" AND NOT withdrawn");
        let uids: Vec<String> = lines.iter().map(|uid| plain(&uid.0)).collect();
        sql.push(" AND uid = ANY(").bind(uids).push(")");
        let gone = empty(&work, sql).await?;
        let derived = underived(&work, scope, &gone).await?;
        work.commit().await?;
        Ok(Forgotten { sessions: 0, lines: length(&gone.seqs), derived })
    }

    pub(super) async fn remove(&self, scope: &Scope, what: Forget) -> Result<Forgotten, Error> {
        let mut client = self.client().await?;
        let work = client.transaction().await?;
        let forgotten = match what {
            Forget::Player { id, before } => forget_player(&work, scope, &id, before).await?,
            Forget::Session(id) => forget_sessions(&work, scope, vec![plain(&id)]).await?,
            Forget::Before(at) => {
                automation::forget_runs(&work, scope, at).await?;
                let mut sql = Sql::new("SELECT s.id FROM session s WHERE coalesce(");
                sql.push("(SELECT max(u.at) FROM utterance u WHERE u.scope = s.scope ");
                sql.push("AND u.session = s.id), s.started) < ").bind(at);
                sql.push(" AND s.scope = ").bind(plain(&scope.key()));
                let rows = sql.query(&work).await?;
                let ids: Result<_, _> = rows.iter().map(|row| row.try_get(0)).collect();
                forget_sessions(&work, scope, ids?).await?
            }
        };
        work.commit().await?;
        Ok(forgotten)
    }
}

/// Empties lines of a scope, narrowed by `more`; the condition follows.
fn emptying(scope: &Scope, more: &str) -> Sql {
    let mut sql = Sql::new(&format!("UPDATE utterance SET {WITHDRAWN}{more}, "));
    sql.push("words = array_to_tsvector(").bind(vec![scope_word(scope)]);
    sql.push(") WHERE scope = ").bind(plain(&scope.key()));
    sql
}

async fn empty(work: &Transaction<'_>, mut sql: Sql) -> Result<Gone, Error> {
    sql.push(" RETURNING session, seq, uid");
    let mut gone = Gone::default();
    for row in sql.query(work).await? {
        gone.sessions.push(row.try_get(0)?);
        gone.seqs.push(row.try_get(1)?);
        gone.uids.push(row.try_get(2)?);
    }
    Ok(gone)
}

/// Removes data derived from removed lines, and their sessions' summaries; returns the number.
async fn underived(work: &Transaction<'_>, scope: &Scope, gone: &Gone) -> Result<u64, Error> {
    let mut items = Sql::new("DELETE FROM item i USING unnest(");
    items.bind(gone.sessions.clone()).push("::text[], ").bind(gone.seqs.clone());
    items.push("::bigint[]) AS gone (session, seq) WHERE i.session = gone.session ");
    items.push(
        "AND (i.first_seq IS NULL OR gone.seq BETWEEN i.first_seq AND i.last_seq) AND i.scope = ",
    );
    items.bind(plain(&scope.key())).push(" RETURNING i.kind, i.session, i.first_seq, i.last_seq");
    let removed = items.query(work).await?;
    uncover(work, scope, &removed).await?;
    let mut relations = Sql::new("DELETE FROM relation WHERE scope = ");
    relations.bind(plain(&scope.key())).push(" AND utterance = ANY(");
    relations.bind(gone.uids.clone()).push(")");
    let relations = relations.execute(work).await?;
    let mut summaries = Sql::new("UPDATE session SET summary = NULL WHERE scope = ");
    summaries.bind(plain(&scope.key())).push(" AND id = ANY(");
    summaries.bind(gone.sessions.clone()).push(")");
    summaries.execute(work).await?;
    Ok(length(&removed) + relations)
}

/// Marks lines of removed chunks as unindexed. Rows are kind, session, first and last line.
pub(super) async fn uncover(
    work: &Transaction<'_>,
    scope: &Scope,
    removed: &[Row],
) -> Result<(), Error> {
    let (mut sessions, mut firsts, mut lasts) = (Vec::new(), Vec::new(), Vec::new());
    for row in removed {
        let lines: (Option<String>, Option<i64>, Option<i64>) =
            (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        if let (Some(session), Some(first), Some(last)) = lines
            && row.try_get::<_, &str>(0)? == "chunk"
        {
            sessions.push(session);
            firsts.push(first);
            lasts.push(last);
        }
    }
    if sessions.is_empty() {
        return Ok(());
    }
    let mut sql = Sql::new("UPDATE utterance u SET indexed = false FROM unnest(");
    sql.bind(sessions).push("::text[], ").bind(firsts).push("::bigint[], ").bind(lasts);
    sql.push("::bigint[]) AS c (session, first_seq, last_seq) WHERE u.indexed AND u.scope = ");
    sql.bind(plain(&scope.key()));
    sql.push(" AND u.session = c.session AND u.seq BETWEEN c.first_seq AND c.last_seq");
    sql.execute(work).await?;
    Ok(())
}

/// Deletes a player's lines begun before a moment, the answers to them, and the player's presence.
async fn forget_player(
    work: &Transaction<'_>,
    scope: &Scope,
    player: &str,
    before: i64,
) -> Result<Forgotten, Error> {
    let mut said = Sql::new("SELECT count(*) FROM utterance u WHERE u.scope = ");
    said.bind(plain(&scope.key())).push(" AND u.speaker_id = ").bind(plain(player));
    said.push(" AND u.at < ").bind(before);
    let lines = said.query(work).await?.first().map_or(Ok(0), |row| count(row, 0))?;
    let mut sql = emptying(scope, FORGOTTEN);
    sql.push(" AND (speaker_id = ").bind(plain(player));
    sql.push(" AND utterance.at < ").bind(before);
    sql.push(" OR asker = ").bind(plain(player));
    sql.push(" AND asked_at < ").bind(before).push(")");
    let gone = empty(work, sql).await?;
    let derived = underived(work, scope, &gone).await?;
    let mut presence = Sql::new("UPDATE utterance SET players = array_remove(players, ");
    presence.bind(plain(player)).push(
        "::text), present = (SELECT coalesce(json_agg(p), '[]')::text \
         FROM json_array_elements(present::json) p WHERE p ->> 'player' IS DISTINCT FROM ",
    );
    presence.bind(plain(player)).push("::text) WHERE scope = ").bind(plain(&scope.key()));
    presence.push(" AND players @> ").bind(vec![plain(player)]);
    presence.execute(work).await?;
    automation::forget(work, scope, player, before).await?;
    Ok(Forgotten { sessions: 0, lines, derived })
}

async fn forget_sessions(
    work: &Transaction<'_>,
    scope: &Scope,
    ids: Vec<String>,
) -> Result<Forgotten, Error> {
    let delete = async |table: &str, column: &str, more: &str| {
        let mut sql = Sql::new(&format!("DELETE FROM {table} WHERE {column} = ANY("));
        sql.bind(ids.clone()).push(") AND scope = ").bind(plain(&scope.key())).push(more);
        sql.execute(work).await
    };
    let derived = delete("item", "session", "").await? + delete("relation", "session", "").await?;
    let lines = delete("utterance", "session", "").await?;
    let sessions = delete("session", "id", "").await?;
    Ok(Forgotten { sessions, lines, derived })
}

fn length<T>(all: &[T]) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}

//! Lines in PostgreSQL in reading order, and their sessions.
//!
//! Entry: [`Transcript`] of [`Postgres`]. **Never**: shows a line hidden from the viewer.

use tokio_postgres::Row;

use super::{
    sql::{Sql, count, plain, read},
    store::{Postgres, within},
};
use crate::memory::{
    ASKED, Asked, CANCELLED, Count, Counts, Error, Forget, Forgotten, LineFilter, LineHit,
    LineQuery, Pick, Scope, Session, SessionEntry, SessionFilter, StoreFuture, Transcript,
    TranscriptLine, Uid, Utterance, Viewer,
};

/// Columns of a line, of `utterance u`, for [`line()`].
pub(super) const LINE: &str = "u.seq, u.uid, u.session, u.turn, u.at, u.duration, u.speaker_id, \
     u.speaker, u.character, u.npc, u.text, u.raw, u.present, u.outcome, u.tools, u.visibility, \
     u.withdrawn, u.asker, u.asked_at";

impl Transcript for Postgres {
    fn put_session<'a>(&'a self, scope: &'a Scope, session: Session) -> StoreFuture<'a, ()> {
        Box::pin(within(async move {
            if scope.campaign.0.is_empty() || session.id.is_empty() {
                return Err(Error::Asked("a campaign and a session need a name".to_owned()));
            }
            let mut sql = Sql::new(
                "INSERT INTO session AS s (scope, id, title, started, ended, summary) VALUES (",
            );
            sql.bind(plain(&scope.key())).push(", ").bind(plain(&session.id)).push(", ");
            sql.bind(session.title.as_deref().map(plain)).push(", ").bind(session.started);
            sql.push(", ").bind(session.ended).push(", ");
            sql.bind(session.summary.as_deref().map(plain));
            sql.push(
                ") ON CONFLICT (scope, id) DO UPDATE SET \
                 title = coalesce(excluded.title, s.title), \
                 started = coalesce(s.started, excluded.started), \
                 ended = coalesce(excluded.ended, s.ended), \
                 summary = coalesce(excluded.summary, s.summary)",
            );
            let client = self.client().await?;
            sql.execute(&client).await?;
            let Some(started) = session.started else { return Ok(()) };
            let mut sql = Sql::new("UPDATE utterance u SET outcome = ");
            sql.bind(CANCELLED).push(" WHERE u.scope = ").bind(plain(&scope.key()));
            sql.push(" AND u.session = ").bind(plain(&session.id)).push(" AND u.outcome = ");
            sql.bind(ASKED).push(" AND u.at < ").bind(started);
            sql.execute(&client).await?;
            Ok(())
        }))
    }

    fn append<'a>(&'a self, scope: &'a Scope, lines: Vec<Utterance>) -> StoreFuture<'a, Vec<u64>> {
        Box::pin(within(async move {
            let lease = self.needed_lease(scope.owner)?;
            self.write(scope, lines, lease).await
        }))
    }

    fn append_late<'a>(
        &'a self,
        scope: &'a Scope,
        lines: Vec<Utterance>,
    ) -> StoreFuture<'a, Vec<u64>> {
        Box::pin(within(self.write(scope, lines, None)))
    }

    fn sessions<'a>(
        &'a self,
        scope: &'a Scope,
        filter: SessionFilter,
    ) -> StoreFuture<'a, Vec<SessionEntry>> {
        Box::pin(within(async move {
            let mut sql = Sql::new(
                "SELECT s.id, s.title, s.started, s.ended, s.summary, \
                 s.last_seq - (SELECT count(*) FROM utterance u \
                 WHERE u.scope = s.scope AND u.session = s.id AND u.withdrawn), \
                 (SELECT count(*) FROM utterance u WHERE u.scope = s.scope \
                 AND u.session = s.id AND NOT u.indexed AND NOT u.withdrawn), s.last_at \
                 FROM (SELECT * FROM session s WHERE s.scope = ",
            );
            sql.bind(plain(&scope.key()));
            if let Some(id) = &filter.id {
                sql.push(" AND s.id = ").bind(plain(id));
            }
            let order = " ORDER BY coalesce(last_at, started) DESC NULLS LAST, number DESC";
            sql.push(order).limit(filter.limit);
            sql.push(") s");
            sql.push(order);
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(entry).collect()
        }))
    }

    fn lines<'a>(
        &'a self,
        scope: &'a Scope,
        filter: LineFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<TranscriptLine>> {
        Box::pin(within(async move {
            let sql = lines_of(scope, &filter, &viewer)?;
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(line).collect()
        }))
    }

    fn search<'a>(
        &'a self,
        scope: &'a Scope,
        query: LineQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<LineHit>> {
        Box::pin(within(self.find_lines(scope, query, viewer)))
    }

    fn withdraw<'a>(&'a self, scope: &'a Scope, lines: Vec<Uid>) -> StoreFuture<'a, Forgotten> {
        Box::pin(within(self.take_back(scope, lines)))
    }

    fn forget<'a>(&'a self, scope: &'a Scope, what: Forget) -> StoreFuture<'a, Forgotten> {
        Box::pin(within(self.remove(scope, what)))
    }

    fn counts<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Counts> {
        Box::pin(within(async move {
            let mut sql = Sql::new("WITH c AS (SELECT ");
            sql.bind(plain(&scope.key())).push(
                "::text AS key) \
                 SELECT 'session', '', count(*) FROM c, session WHERE scope = key UNION ALL \
                 SELECT 'line', '', count(*) FROM c, utterance WHERE scope = key AND NOT withdrawn \
                 UNION ALL SELECT 'relation', '', count(*) FROM c, relation WHERE scope = key \
                 UNION ALL SELECT 'item', kind, count(*) FROM c, item WHERE scope = key GROUP BY 2 \
                 UNION ALL SELECT 'vector', model, count(*) FROM c, item_vector WHERE scope = key \
                 GROUP BY 2 UNION ALL \
                 SELECT 'entity', kind, count(*) FROM c, entity WHERE scope = key GROUP BY 2 \
                 ORDER BY 1, 2",
            );
            let mut counts = Counts::default();
            for row in sql.query(&self.client().await?).await? {
                let (what, of): (&str, String) = (row.try_get(0)?, row.try_get(1)?);
                let count = count(&row, 2)?;
                match what {
                    "session" => counts.sessions = count,
                    "line" => counts.lines = count,
                    "relation" => counts.relations = count,
                    "item" => counts.items.push(Count { of, count }),
                    "vector" => counts.vectors.push(Count { of, count }),
                    _ => counts.entities.push(Count { of, count }),
                }
            }
            Ok(counts)
        }))
    }
}

/// Filtered lines, in the order they were said.
fn lines_of(scope: &Scope, filter: &LineFilter, viewer: &Viewer) -> Result<Sql, Error> {
    let first = filter.pick == Pick::Unindexed;
    // Within one session the index has this order, which avoids reading it all.
    let order = |direction: &str| match filter.session {
        Some(_) => format!(" ORDER BY u.seq {direction}"),
        None => format!(" ORDER BY s.number {direction}, u.seq {direction}"),
    };
    let mut sql = Sql::new(
        "WITH u AS (SELECT u.* FROM utterance u \
         JOIN session s ON s.scope = u.scope AND s.id = u.session WHERE u.scope = ",
    );
    sql.bind(plain(&scope.key())).lines_for(viewer);
    if let Some(session) = &filter.session {
        sql.push(" AND u.session = ").bind(plain(session));
    }
    if let Some(player) = &filter.player {
        sql.push(" AND u.speaker_id = ").bind(plain(player));
    }
    if !filter.gaps {
        sql.push(" AND NOT u.withdrawn");
    }
    match filter.pick {
        Pick::All => {}
        Pick::Range { from, to } => {
            // No line has a larger number.
            let number = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
            sql.push(" AND u.seq BETWEEN ").bind(number(from));
            sql.push(" AND ").bind(number(to));
        }
        Pick::Unindexed => {
            sql.push(" AND NOT u.indexed AND NOT u.withdrawn");
        }
    }
    sql.push(&order(if first { "ASC" } else { "DESC" })).limit(filter.limit);
    sql.push(&format!(
        ") SELECT {LINE} FROM u JOIN session s ON s.scope = u.scope AND s.id = u.session"
    ));
    sql.push(&order("ASC"));
    Ok(sql)
}

fn entry(row: &Row) -> Result<SessionEntry, Error> {
    let session = Session {
        id: row.try_get(0)?,
        title: row.try_get(1)?,
        started: row.try_get(2)?,
        ended: row.try_get(3)?,
        summary: row.try_get(4)?,
    };
    let (lines, unindexed) = (count(row, 5)?, count(row, 6)?);
    Ok(SessionEntry { session, lines, unindexed, last_at: row.try_get(7)? })
}

pub(super) fn line(row: &Row) -> Result<TranscriptLine, Error> {
    let asked: (Option<String>, Option<i64>) = (row.try_get(17)?, row.try_get(18)?);
    let said = Utterance {
        uid: Uid(row.try_get(1)?),
        session: row.try_get(2)?,
        turn: count(row, 3)?,
        at: row.try_get(4)?,
        duration: count(row, 5)?,
        speaker_id: row.try_get(6)?,
        speaker: row.try_get(7)?,
        character: row.try_get(8)?,
        npc: row.try_get(9)?,
        text: row.try_get(10)?,
        raw: row.try_get(11)?,
        present: read(row, 12)?,
        outcome: row.try_get(13)?,
        tools: read(row, 14)?,
        visibility: read(row, 15)?,
        asked: asked.0.zip(asked.1).map(|(by, at)| Asked { by, at }),
    };
    Ok(TranscriptLine { seq: count(row, 0)?, said, withdrawn: row.try_get(16)? })
}

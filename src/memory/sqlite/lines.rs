//! Lines: written, listed and counted.
//!
//! Entry: [`Transcript`] of [`Sqlite`]. **Never**: writes a line twice.

use futures::FutureExt;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params, params_from_iter};

use super::{
    super::{
        ASKED, CANCELLED, Count, Counts, Error, Forget, Forgotten, LineFilter, LineHit, LineQuery,
        Pick, Present, Scope, Session, SessionEntry, SessionFilter, StoreFuture, Transcript,
        TranscriptLine, Uid, Utterance, Viewer,
    },
    campaign, campaign_made, failure, forget,
    rows::{self, Eyes, json, limit, named, names},
    search,
    store::Sqlite,
};

/// Longest identity of an utterance, in characters.
const UID_MAX: usize = 64;

impl Transcript for Sqlite {
    fn put_session<'a>(&'a self, scope: &'a Scope, session: Session) -> StoreFuture<'a, ()> {
        let key = scope.key();
        let work = move |db: &Connection| {
            let campaign = campaign_made(db, &key)?;
            put_session(db, campaign, &session)
        };
        self.writer.write(work).boxed()
    }

    fn append<'a>(&'a self, scope: &'a Scope, lines: Vec<Utterance>) -> StoreFuture<'a, Vec<u64>> {
        #[cfg(test)]
        if let Some(refused) = self.refusal(scope) {
            return std::future::ready(Err(refused)).boxed();
        }
        self.append_late(scope, lines)
    }

    fn append_late<'a>(
        &'a self,
        scope: &'a Scope,
        lines: Vec<Utterance>,
    ) -> StoreFuture<'a, Vec<u64>> {
        let key = scope.key();
        let work = move |db: &Connection| {
            let campaign = campaign_made(db, &key)?;
            lines.iter().map(|line| append(db, campaign, line)).collect()
        };
        self.writer.write(work).boxed()
    }

    fn sessions<'a>(
        &'a self,
        scope: &'a Scope,
        filter: SessionFilter,
    ) -> StoreFuture<'a, Vec<SessionEntry>> {
        let key = scope.key();
        self.readers.read(move |db| sessions(db, &key, &filter)).boxed()
    }

    fn lines<'a>(
        &'a self,
        scope: &'a Scope,
        filter: LineFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<TranscriptLine>> {
        let key = scope.key();
        self.readers.read(move |db| lines(db, &key, &filter, &viewer)).boxed()
    }

    fn search<'a>(
        &'a self,
        scope: &'a Scope,
        query: LineQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<LineHit>> {
        let key = scope.key();
        self.readers.read(move |db| search::search(db, &key, &query, &viewer)).boxed()
    }

    fn withdraw<'a>(&'a self, scope: &'a Scope, lines: Vec<Uid>) -> StoreFuture<'a, Forgotten> {
        let key = scope.key();
        async move {
            let withdrawn = self.writer.write(move |db| forget::withdraw(db, &key, &lines)).await?;
            self.checkpoint_if_free().await;
            Ok(withdrawn)
        }
        .boxed()
    }

    fn forget<'a>(&'a self, scope: &'a Scope, what: Forget) -> StoreFuture<'a, Forgotten> {
        let key = scope.key();
        async move {
            let forgotten = self.writer.write(move |db| forget::forget(db, &key, &what)).await?;
            self.checkpoint_if_free().await;
            Ok(forgotten)
        }
        .boxed()
    }

    fn counts<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, Counts> {
        let key = scope.key();
        self.readers.read(move |db| counts(db, &key)).boxed()
    }
}

fn put_session(db: &Connection, campaign: i64, session: &Session) -> Result<(), Error> {
    if session.id.is_empty() {
        return Err(Error::Asked("a session needs a name".to_owned()));
    }
    let mut put = db
        .prepare_cached(
            "INSERT INTO session (campaign, key, title, started, ended, summary)
             VALUES (?, ?, ?, ?, ?, ?)
             ON CONFLICT (campaign, key) DO UPDATE SET
                 title = coalesce(excluded.title, title),
                 started = coalesce(started, excluded.started),
                 ended = coalesce(excluded.ended, ended),
                 summary = coalesce(excluded.summary, summary)",
        )
        .map_err(failure)?;
    let given = params![
        campaign,
        session.id,
        session.title,
        session.started,
        session.ended,
        session.summary,
    ];
    put.execute(given).map_err(failure)?;
    let Some(started) = session.started else { return Ok(()) };
    let mut settle = db
        .prepare_cached(
            "UPDATE line SET outcome = ?4
             WHERE session = (SELECT id FROM session WHERE campaign = ?1 AND key = ?2)
                 AND outcome = ?5 AND at < ?3",
        )
        .map_err(failure)?;
    settle.execute(params![campaign, session.id, started, CANCELLED, ASKED]).map_err(failure)?;
    Ok(())
}

fn append(db: &Connection, campaign: i64, line: &Utterance) -> Result<u64, Error> {
    if line.uid.0.is_empty() || line.uid.0.len() > UID_MAX {
        return Err(Error::Asked(format!("'{}' is no identity of an utterance", line.uid.0)));
    }
    let mut written = db
        .prepare_cached("SELECT seq FROM line WHERE campaign = ? AND uid = ?")
        .map_err(failure)?;
    let known = written.query_row(params![campaign, line.uid.0], |row| row.get(0));
    if let Some(seq) = known.optional().map_err(failure)? {
        complete(db, campaign, line)?;
        return Ok(seq);
    }
    let session = session_of(db, campaign, line)?;
    let presence = presence(db, campaign, &line.present)?;
    let said_by = [line.speaker_id.as_deref(), Some(&line.speaker), line.character.as_deref()];
    let own = line.npc.as_deref().filter(|_| line.speaker_id.is_none());
    let tools = tools(line)?;
    let mut add = db
        .prepare_cached(
            "INSERT INTO line (campaign, session, seq, uid, turn, at, duration, speaker_id,
                 speaker, character, npc, text, raw, presence, outcome, tools, visibility, seen_by,
                 said_by, asker, asked_at)
             VALUES (?1, ?2, 1 + (SELECT coalesce(max(seq), 0) FROM line WHERE session = ?2),
                 ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
             RETURNING seq",
        )
        .map_err(failure)?;
    let given = params![
        campaign,
        session,
        line.uid.0,
        line.turn,
        line.at,
        line.duration,
        line.speaker_id,
        line.speaker,
        line.character,
        line.npc,
        line.text,
        line.raw,
        presence,
        line.outcome,
        tools,
        json(&line.visibility)?,
        rows::seen_by(&line.visibility),
        names(said_by.into_iter().flatten().chain(own)),
        line.asked.as_ref().map(|asked| &asked.by),
        line.asked.as_ref().map(|asked| asked.at),
    ];
    let seq = add.query_row(given, |row| row.get(0)).map_err(failure)?;
    let mut last = db
        .prepare_cached("UPDATE session SET last_at = max(coalesce(last_at, ?2), ?2) WHERE id = ?1")
        .map_err(failure)?;
    last.execute(params![session, line.at]).map_err(failure)?;
    let mut count =
        db.prepare_cached("UPDATE campaign SET lines = lines + 1 WHERE id = ?").map_err(failure)?;
    count.execute([campaign]).map_err(failure)?;
    Ok(seq)
}

/// Adds to [`ASKED`] words what came of them.
fn complete(db: &Connection, campaign: i64, line: &Utterance) -> Result<(), Error> {
    let mut complete = db
        .prepare_cached(
            "UPDATE line SET turn = ?3, outcome = ?4, tools = ?5
             WHERE campaign = ?1 AND uid = ?2 AND outcome = ?6 AND gone = 0",
        )
        .map_err(failure)?;
    let given = params![campaign, line.uid.0, line.turn, line.outcome, tools(line)?, ASKED];
    complete.execute(given).map_err(failure)?;
    Ok(())
}

fn tools(line: &Utterance) -> Result<Option<String>, Error> {
    (!line.tools.is_null()).then(|| json(&line.tools)).transpose()
}

fn session_of(db: &Connection, campaign: i64, line: &Utterance) -> Result<i64, Error> {
    let find = |db: &Connection| {
        let mut known = db
            .prepare_cached("SELECT id FROM session WHERE campaign = ? AND key = ?")
            .map_err(failure)?;
        let id = known.query_row(params![campaign, line.session], |row| row.get(0));
        id.optional().map_err(failure)
    };
    if let Some(id) = find(db)? {
        return Ok(id);
    }
    let started = Some(line.at);
    let session = Session { id: line.session.clone(), started, ..Session::default() };
    put_session(db, campaign, &session)?;
    find(db)?.ok_or_else(|| Error::Failed("a session vanished".to_owned()))
}

fn presence(db: &Connection, campaign: i64, present: &[Present]) -> Result<i64, Error> {
    let mut members = present.to_vec();
    members.sort();
    members.dedup();
    let text = json(&members)?;
    let mut known = db
        .prepare_cached("SELECT id FROM presence WHERE campaign = ? AND members = ?")
        .map_err(failure)?;
    let id = known.query_row(params![campaign, text], |row| row.get(0)).optional();
    if let Some(id) = id.map_err(failure)? {
        return Ok(id);
    }
    db.execute("INSERT INTO presence (campaign, members) VALUES (?, ?)", params![campaign, text])
        .map_err(failure)?;
    let id = db.last_insert_rowid();
    for npc in members.iter().filter(|member| member.player.is_none()) {
        db.execute(
            "INSERT OR IGNORE INTO present_npc (name, presence) VALUES (?, ?)",
            params![named(&npc.name), id],
        )
        .map_err(failure)?;
    }
    Ok(id)
}

fn sessions(
    db: &Connection,
    key: &str,
    filter: &SessionFilter,
) -> Result<Vec<SessionEntry>, Error> {
    let mut all = db
        .prepare_cached(
            "SELECT key, title, started, ended, summary,
                 coalesce((SELECT max(seq) FROM line WHERE session = s.id), 0)
                     - (SELECT count(*) FROM line WHERE session = s.id AND gone <> 0),
                 (SELECT count(*) FROM line WHERE session = s.id AND indexed = 0 AND gone = 0),
                 last_at
             FROM (
                 SELECT * FROM session
                 WHERE campaign = ?1 AND (?2 IS NULL OR key = ?2)
                 ORDER BY coalesce(last_at, started) DESC, id DESC LIMIT ?3
             ) s ORDER BY coalesce(last_at, started) DESC, id DESC",
        )
        .map_err(failure)?;
    let campaign = campaign(db, key)?;
    let given = params![campaign, filter.id, limit(filter.limit)];
    let entries = all.query_map(given, |row: &Row<'_>| {
        Ok(SessionEntry {
            session: Session {
                id: row.get(0)?,
                title: row.get(1)?,
                started: row.get(2)?,
                ended: row.get(3)?,
                summary: row.get(4)?,
            },
            lines: row.get(5)?,
            unindexed: row.get(6)?,
            last_at: row.get(7)?,
        })
    });
    entries.and_then(Iterator::collect).map_err(failure)
}

fn lines(
    db: &Connection,
    key: &str,
    filter: &LineFilter,
    viewer: &Viewer,
) -> Result<Vec<TranscriptLine>, Error> {
    let eyes = Eyes::from(viewer);
    let mut sql = format!(
        "SELECT {} FROM {} WHERE l.campaign = ?2 AND {}",
        rows::LINE,
        rows::LINE_FROM,
        eyes.line()
    );
    let mut given: Vec<Box<dyn ToSql>> = vec![Box::new(eyes.name), Box::new(campaign(db, key)?)];
    let mut when = |condition: &str, value: Box<dyn ToSql>| {
        given.push(value);
        sql.push_str(&format!(" AND {condition} ?{}", given.len()));
    };
    if let Some(session) = &filter.session {
        when("s.campaign = ?2 AND s.key =", Box::new(session.clone()));
    }
    if let Some(player) = &filter.player {
        when("l.speaker_id =", Box::new(player.clone()));
    }
    match filter.pick {
        Pick::All => {}
        Pick::Range { from, to } => {
            when("l.seq >=", Box::new(row_number(from)));
            when("l.seq <=", Box::new(row_number(to)));
        }
        Pick::Unindexed => when("l.indexed =", Box::new(0)),
    }
    if !filter.gaps || filter.pick == Pick::Unindexed {
        sql.push_str(" AND l.gone = 0");
    }
    let first = filter.pick == Pick::Unindexed;
    let order = if first { "ASC" } else { "DESC" };
    sql.push_str(&format!(" ORDER BY l.session {order}, l.seq {order} LIMIT "));
    sql.push_str(&limit(filter.limit).to_string());
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let found = found.query_map(params_from_iter(given), rows::line);
    let mut lines: Vec<TranscriptLine> = found.and_then(Iterator::collect).map_err(failure)?;
    if !first {
        lines.reverse();
    }
    Ok(lines)
}

/// A line's number in rows; no line has a larger one.
fn row_number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn counts(db: &Connection, key: &str) -> Result<Counts, Error> {
    let campaign = campaign(db, key)?;
    let number = |sql: &str| db.query_row(sql, [campaign], |row| row.get(0)).map_err(failure);
    let by = |sql: &str| {
        let mut counts = db.prepare_cached(sql).map_err(failure)?;
        let counts =
            counts.query_map([campaign], |row| Ok(Count { of: row.get(0)?, count: row.get(1)? }));
        counts.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failure)
    };
    Ok(Counts {
        sessions: number("SELECT count(*) FROM session WHERE campaign = ?")?,
        lines: number("SELECT count(*) FROM line WHERE campaign = ? AND gone = 0")?,
        items: by("SELECT kind, count(*) FROM item WHERE campaign = ? GROUP BY kind")?,
        vectors: by("SELECT v.model, count(*) FROM item i JOIN vector v ON v.item = i.id
                     WHERE i.campaign = ? GROUP BY v.model")?,
        entities: by("SELECT kind, count(*) FROM entity WHERE campaign = ? GROUP BY kind")?,
        relations: number("SELECT count(*) FROM relation WHERE campaign = ?")?,
    })
}

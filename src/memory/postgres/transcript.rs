//! Lines in PostgreSQL: how they are written, and read in their order.
//!
//! Entry: [`Transcript`] of [`Postgres`]. **Never**: gives a number twice, or leaves one out: a
//! session's row is held while its lines are numbered.

use std::collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry};

use deadpool_postgres::Transaction;
use futures::{future::try_join_all, try_join};
use tokio_postgres::Row;

use super::{
    Postgres,
    sql::{Sql, count, fold_of, folded, json, lexemes, number, plain, read, told},
    within,
};
use crate::memory::{
    Answer, CampaignKey, Count, Counts, Error, Forget, Forgotten, Hit, Line, LineFilter, LineQuery,
    Pick, Present, Session, SessionEntry, SessionFilter, Transcript, Uid, Utterance, Viewer,
};

/// Columns of a line, of `utterance u`, as [`line()`] reads them.
pub(super) const LINE: &str = "u.seq, u.uid, u.session, u.turn, u.at, u.duration, u.speaker_id, \
     u.speaker, u.character, u.npc, u.text, u.raw, u.present, u.outcome, u.tools, u.visibility, \
     u.withdrawn";

/// Longest identity of an utterance, in characters.
const UID_MAX: usize = 64;

const WRITE: &str = "INSERT INTO utterance (campaign, session, seq, uid, turn, at, duration, \
     speaker_id, speaker, character, npc, text, raw, present, outcome, tools, visibility, open, \
     told, heard, players, said_by, words) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
     $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, array_to_tsvector($23))";

impl Transcript for Postgres {
    fn put_session<'a>(&'a self, campaign: &'a CampaignKey, session: Session) -> Answer<'a, ()> {
        Box::pin(within(async move {
            if campaign.0.is_empty() || session.id.is_empty() {
                return Err(Error::Asked("a campaign and a session need a name".to_owned()));
            }
            let mut sql = Sql::new(
                "INSERT INTO session AS s (campaign, id, guild, title, started, ended, summary) VALUES (",
            );
            sql.bind(plain(&campaign.0)).push(", ").bind(plain(&session.id)).push(", ");
            sql.bind(session.guild.map(u64::cast_signed)).push(", ");
            sql.bind(session.title.as_deref().map(plain)).push(", ").bind(session.started);
            sql.push(", ").bind(session.ended).push(", ");
            sql.bind(session.summary.as_deref().map(plain));
            sql.push(
                ") ON CONFLICT (campaign, id) DO UPDATE SET guild = coalesce(excluded.guild, s.guild), \
                 title = coalesce(excluded.title, s.title), \
                 started = coalesce(s.started, excluded.started), \
                 ended = coalesce(excluded.ended, s.ended), \
                 summary = coalesce(excluded.summary, s.summary)",
            );
            sql.execute(&self.client().await?).await?;
            Ok(())
        }))
    }

    fn append<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        lines: Vec<Utterance>,
    ) -> Answer<'a, Vec<u64>> {
        Box::pin(within(self.write(campaign, lines)))
    }

    fn sessions<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        filter: SessionFilter,
    ) -> Answer<'a, Vec<SessionEntry>> {
        Box::pin(within(async move {
            let mut sql = Sql::new(
                "SELECT s.id, s.guild, s.title, s.started, s.ended, s.summary, \
                 s.last_seq - (SELECT count(*) FROM utterance u \
                 WHERE u.campaign = s.campaign AND u.session = s.id AND u.withdrawn), \
                 (SELECT count(*) FROM utterance u WHERE u.campaign = s.campaign \
                 AND u.session = s.id AND NOT u.indexed AND NOT u.withdrawn), s.last_at \
                 FROM (SELECT * FROM session s WHERE s.campaign = ",
            );
            sql.bind(plain(&campaign.0));
            if let Some(id) = &filter.id {
                sql.push(" AND s.id = ").bind(plain(id));
            }
            if let Some(guild) = filter.guild {
                sql.push(" AND s.guild = ").bind(guild.cast_signed());
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
        campaign: &'a CampaignKey,
        filter: LineFilter,
        viewer: Viewer,
    ) -> Answer<'a, Vec<Line>> {
        Box::pin(within(async move {
            let sql = lines_of(campaign, &filter, &viewer)?;
            let rows = sql.query(&self.client().await?).await?;
            rows.iter().map(line).collect()
        }))
    }

    fn search<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        query: LineQuery,
        viewer: Viewer,
    ) -> Answer<'a, Vec<Hit>> {
        Box::pin(within(self.find_lines(campaign, query, viewer)))
    }

    fn withdraw<'a>(&'a self, campaign: &'a CampaignKey, lines: Vec<Uid>) -> Answer<'a, Forgotten> {
        Box::pin(within(self.take_back(campaign, lines)))
    }

    fn forget<'a>(&'a self, campaign: &'a CampaignKey, what: Forget) -> Answer<'a, Forgotten> {
        Box::pin(within(self.remove(campaign, what)))
    }

    fn counts<'a>(&'a self, campaign: &'a CampaignKey) -> Answer<'a, Counts> {
        Box::pin(within(async move {
            let mut sql = Sql::new("WITH c AS (SELECT ");
            sql.bind(plain(&campaign.0)).push(
                "::text AS key) \
                 SELECT 'session', '', count(*) FROM c, session WHERE campaign = key UNION ALL \
                 SELECT 'line', '', count(*) FROM c, utterance WHERE campaign = key AND NOT withdrawn \
                 UNION ALL SELECT 'relation', '', count(*) FROM c, relation WHERE campaign = key \
                 UNION ALL SELECT 'item', kind, count(*) FROM c, item WHERE campaign = key GROUP BY 2 \
                 UNION ALL SELECT 'vector', model, count(*) FROM c, item_vector WHERE campaign = key \
                 GROUP BY 2 UNION ALL \
                 SELECT 'entity', kind, count(*) FROM c, entity WHERE campaign = key GROUP BY 2 \
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

impl Postgres {
    /// Writes what is new of `lines`; gives the numbers of all.
    async fn write(
        &self,
        campaign: &CampaignKey,
        lines: Vec<Utterance>,
    ) -> Result<Vec<u64>, Error> {
        let fits = |uid: &Uid| (1..=UID_MAX).contains(&uid.0.chars().count());
        if let Some(line) = lines.iter().find(|line| !fits(&line.uid)) {
            let text = format!("'{}' is no identity (1 to {UID_MAX} characters)", line.uid.0);
            return Err(Error::Asked(text));
        }
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        if campaign.0.is_empty() || lines.iter().any(|line| line.session.is_empty()) {
            return Err(Error::Asked("a campaign and a session need a name".to_owned()));
        }
        let mut client = self.client().await?;
        let work = client.transaction().await?;
        // All are on their way before the first answers, here and below.
        let (mut last, mut numbers) =
            try_join!(hold(&work, campaign, &lines), known(&work, campaign, &lines))?;
        let mut new = Vec::new();
        for line in &lines {
            if let Entry::Vacant(place) = numbers.entry(plain(&line.uid.0)) {
                let Last { seq, at } = last.entry(plain(&line.session)).or_default();
                *seq += 1;
                *at = Some(line.at).max(*at);
                place.insert(*seq);
                new.push((*seq, line));
            }
        }
        if !new.is_empty() {
            let statement = work.prepare_cached(WRITE).await?;
            let write = |(seq, line)| insert(&work, &statement, campaign, seq, line);
            let (seqs, ats): (Vec<i64>, Vec<Option<i64>>) =
                last.values().map(|last| (last.seq, last.at)).unzip();
            let ids: Vec<String> = last.into_keys().collect();
            let mut sql =
                Sql::new("UPDATE session SET last_seq = l.seq, last_at = l.at FROM unnest(");
            sql.bind(ids).push("::text[], ").bind(seqs).push("::bigint[], ").bind(ats);
            sql.push("::bigint[]) AS l (id, seq, at)");
            sql.push(" WHERE session.id = l.id AND campaign = ").bind(plain(&campaign.0));
            try_join!(try_join_all(new.into_iter().map(write)), sql.execute(&work))?;
        }
        work.commit().await?;
        let number = |line: &Utterance| numbers.get(&plain(&line.uid.0)).copied();
        Ok(lines.iter().filter_map(number).map(|seq| seq.cast_unsigned()).collect())
    }
}

/// The last line of a session.
#[derive(Default)]
struct Last {
    seq: i64,
    at: Option<i64>,
}

/// Opens the sessions that `lines` name and holds them to the end of `work`; gives their last
/// lines.
async fn hold(
    work: &Transaction<'_>,
    campaign: &CampaignKey,
    lines: &[Utterance],
) -> Result<BTreeMap<String, Last>, Error> {
    let ids: BTreeSet<String> = lines.iter().map(|line| plain(&line.session)).collect();
    let ids: Vec<String> = ids.into_iter().collect();
    let first = |id: &String| {
        lines.iter().filter(|line| plain(&line.session) == *id).map(|line| line.at).min()
    };
    let starts: Vec<Option<i64>> = ids.iter().map(first).collect();
    let mut open = Sql::new("INSERT INTO session (campaign, id, started) SELECT ");
    open.bind(plain(&campaign.0)).push(", id, started FROM unnest(").bind(ids.clone());
    open.push("::text[], ").bind(starts);
    open.push("::bigint[]) AS new (id, started) ORDER BY id ON CONFLICT DO NOTHING");
    let mut hold = Sql::new("SELECT id, last_seq, last_at FROM session WHERE campaign = ");
    hold.bind(plain(&campaign.0)).push(" AND id = ANY(").bind(ids);
    hold.push(") ORDER BY id FOR UPDATE");
    let last =
        |row: &Row| Ok((row.try_get(0)?, Last { seq: row.try_get(1)?, at: row.try_get(2)? }));
    let (_, held) = try_join!(open.execute(work), hold.query(work))?;
    held.iter().map(last).collect()
}

/// Numbers of lines that are there already.
async fn known(
    work: &Transaction<'_>,
    campaign: &CampaignKey,
    lines: &[Utterance],
) -> Result<HashMap<String, i64>, Error> {
    let uids: Vec<String> = lines.iter().map(|line| plain(&line.uid.0)).collect();
    let mut sql = Sql::new("SELECT uid, seq FROM utterance WHERE campaign = ");
    sql.bind(plain(&campaign.0)).push(" AND uid = ANY(").bind(uids).push(")");
    let rows = sql.query(work).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// Writes one line.
async fn insert(
    work: &Transaction<'_>,
    statement: &tokio_postgres::Statement,
    campaign: &CampaignKey,
    seq: i64,
    line: &Utterance,
) -> Result<(), Error> {
    let optional = |text: &Option<String>| text.as_deref().map(plain);
    let clean =
        |it: &Present| Present { name: plain(&it.name), player: it.player.as_deref().map(plain) };
    let present: Vec<Present> = line.present.iter().map(clean).collect();
    let npcs = present.iter().filter(|it| it.player.is_none()).map(|it| it.name.clone());
    let heard = folded(&npcs.collect::<Vec<_>>());
    let players: Vec<String> = present.iter().filter_map(|it| it.player.clone()).collect();
    // Of a player's line "npc" is who was addressed, and an NPC plays nobody.
    let own = if line.speaker_id.is_some() { &line.character } else { &line.npc };
    let names = [Some(&line.speaker), own.as_ref(), line.speaker_id.as_ref()];
    let said_by: Vec<String> = names.into_iter().flatten().map(|it| fold_of(it)).collect();
    let (open, told) = told(&line.visibility);
    work.execute(
        statement,
        &[
            &plain(&campaign.0),
            &plain(&line.session),
            &seq,
            &plain(&line.uid.0),
            &number(line.turn)?,
            &line.at,
            &number(line.duration)?,
            &optional(&line.speaker_id),
            &plain(&line.speaker),
            &optional(&line.character),
            &optional(&line.npc),
            &plain(&line.text),
            &optional(&line.raw),
            &json(&present)?,
            &plain(&line.outcome),
            &json(&line.tools)?,
            &json(&line.visibility)?,
            &open,
            &told,
            &heard,
            &players,
            &said_by,
            &lexemes(campaign, &line.text),
        ],
    )
    .await?;
    Ok(())
}

/// Lines of a filter, in the order they were said.
fn lines_of(campaign: &CampaignKey, filter: &LineFilter, viewer: &Viewer) -> Result<Sql, Error> {
    let first = filter.pick == Pick::Unindexed;
    // Within one session its index has the order, so that not all of it is read.
    let order = |direction: &str| match filter.session {
        Some(_) => format!(" ORDER BY u.seq {direction}"),
        None => format!(" ORDER BY s.number {direction}, u.seq {direction}"),
    };
    let mut sql = Sql::new(
        "WITH u AS (SELECT u.* FROM utterance u \
         JOIN session s ON s.campaign = u.campaign AND s.id = u.session WHERE u.campaign = ",
    );
    sql.bind(plain(&campaign.0)).lines_for(viewer);
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
            sql.push(" AND u.seq BETWEEN ").bind(number(from)?);
            sql.push(" AND ").bind(number(to)?);
        }
        Pick::Unindexed => {
            sql.push(" AND NOT u.indexed AND NOT u.withdrawn");
        }
    }
    sql.push(&order(if first { "ASC" } else { "DESC" })).limit(filter.limit);
    sql.push(&format!(
        ") SELECT {LINE} FROM u JOIN session s ON s.campaign = u.campaign AND s.id = u.session"
    ));
    sql.push(&order("ASC"));
    Ok(sql)
}

/// A session of a list.
fn entry(row: &Row) -> Result<SessionEntry, Error> {
    let session = Session {
        id: row.try_get(0)?,
        guild: row.try_get::<_, Option<i64>>(1)?.map(i64::cast_unsigned),
        title: row.try_get(2)?,
        started: row.try_get(3)?,
        ended: row.try_get(4)?,
        summary: row.try_get(5)?,
    };
    let (lines, unindexed) = (count(row, 6)?, count(row, 7)?);
    Ok(SessionEntry { session, lines, unindexed, last_at: row.try_get(8)? })
}

/// A line, of the columns [`LINE`].
pub(super) fn line(row: &Row) -> Result<Line, Error> {
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
    };
    Ok(Line { seq: count(row, 0)?, said, withdrawn: row.try_get(16)? })
}

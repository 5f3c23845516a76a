//! Writes lines to PostgreSQL in one statement, which is its own transaction.
//!
//! Entry: `Postgres::write`. Numbers have no gaps or duplicates: the numbering transaction locks
//! the session's row until its lines are written. A lease that the lines need is locked likewise.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use tokio_postgres::error::SqlState;

use super::{
    fence::NeededLease,
    sql::{fold_of, folded, json, lexemes, number, plain, told},
    store::Postgres,
};
use crate::memory::{Error, Present, Scope, Uid, Utterance};

/// Longest identity of an utterance, in characters.
const UID_MAX: usize = 64;
/// Most attempts while others write the same lines.
const TRIES: usize = 5;

/// Takes a scope's key and lines as JSON, each identity once; returns all numbers. Existing lines
/// stay as they are, but for what came of words that were asked. The first line opens its session.
/// Also takes shard, owner and epoch of a lease: without it nothing is written or returned, unless
/// the owner is NULL.
const WRITE: &str = r#"WITH lease AS MATERIALIZED (
    SELECT 1 FROM shard_lease
    WHERE shard = $3 AND owner = $4 AND epoch = $5 AND expires > clock_timestamp() FOR SHARE
), given AS (
    SELECT g.* FROM json_to_recordset($2::text::json) AS g (place bigint, session text, uid text,
        turn bigint, at bigint, duration bigint, speaker_id text, speaker text, "character" text,
        npc text, text text, raw text, present text, outcome text, tools text, visibility text,
        open boolean, told text[], heard text[], players text[], said_by text[], words text[],
        asker text, asked_at bigint)
    WHERE $4::text IS NULL OR EXISTS (SELECT 1 FROM lease)
), known AS MATERIALIZED (
    SELECT u.uid, u.seq FROM utterance u
    WHERE u.scope = $1 AND u.uid IN (SELECT g.uid FROM given g)
), completed AS (
    UPDATE utterance u SET turn = g.turn, outcome = g.outcome, tools = g.tools FROM given g
    WHERE u.scope = $1 AND u.uid = g.uid AND u.outcome = 'asked' AND NOT u.withdrawn
), new AS (
    SELECT g.*, row_number() OVER (PARTITION BY g.session ORDER BY g.place) AS nth,
        count(*) OVER (PARTITION BY g.session) AS lines
    FROM given g WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.uid = g.uid)
), held AS (
    INSERT INTO session AS s (scope, id, started, last_seq, last_at)
    SELECT $1, n.session, min(n.at), count(*), max(n.at) FROM new n
    GROUP BY n.session ORDER BY n.session
    ON CONFLICT (scope, id) DO UPDATE SET last_seq = s.last_seq + excluded.last_seq,
        last_at = greatest(s.last_at, excluded.last_at)
    RETURNING s.id, s.last_seq
), written AS (
    INSERT INTO utterance (scope, session, seq, uid, turn, at, duration, speaker_id, speaker,
        "character", npc, text, raw, present, outcome, tools, visibility, open, told, heard, players,
        said_by, words, asker, asked_at)
    SELECT $1, n.session, h.last_seq - n.lines + n.nth, n.uid, n.turn, n.at, n.duration,
        n.speaker_id, n.speaker, n."character", n.npc, n.text, n.raw, n.present, n.outcome, n.tools,
        n.visibility, n.open, n.told, n.heard, n.players, n.said_by, array_to_tsvector(n.words),
        n.asker, n.asked_at
    FROM new n JOIN held h ON h.id = n.session
    RETURNING uid, seq
)
SELECT uid, seq FROM known UNION ALL SELECT uid, seq FROM written"#;

#[derive(Serialize)]
struct Given {
    place: usize,
    session: String,
    uid: String,
    turn: i64,
    at: i64,
    duration: i64,
    speaker_id: Option<String>,
    speaker: String,
    character: Option<String>,
    npc: Option<String>,
    text: String,
    raw: Option<String>,
    present: String,
    outcome: String,
    tools: String,
    visibility: String,
    open: bool,
    told: Vec<String>,
    heard: Vec<String>,
    players: Vec<String>,
    said_by: Vec<String>,
    words: Vec<String>,
    asker: Option<String>,
    asked_at: Option<i64>,
}

impl Given {
    fn of(scope: &Scope, place: usize, line: &Utterance) -> Result<Self, Error> {
        let optional = |text: &Option<String>| text.as_deref().map(plain);
        let clean = |it: &Present| {
            let player = it.player.as_deref().map(plain);
            Present { name: plain(&it.name), player }
        };
        let present: Vec<Present> = line.present.iter().map(clean).collect();
        let npcs = present.iter().filter(|it| it.player.is_none()).map(|it| it.name.clone());
        let heard = folded(&npcs.collect::<Vec<_>>());
        // In a player's line "npc" is the addressee, and an NPC plays no character.
        let own = if line.speaker_id.is_some() { &line.character } else { &line.npc };
        let names = [Some(&line.speaker), own.as_ref(), line.speaker_id.as_ref()];
        let (open, told) = told(&line.visibility);
        Ok(Self {
            place,
            session: plain(&line.session),
            uid: plain(&line.uid.0),
            turn: number(line.turn)?,
            at: line.at,
            duration: number(line.duration)?,
            speaker_id: optional(&line.speaker_id),
            speaker: plain(&line.speaker),
            character: optional(&line.character),
            npc: optional(&line.npc),
            text: plain(&line.text),
            raw: optional(&line.raw),
            players: present.iter().filter_map(|it| it.player.clone()).collect(),
            present: json(&present)?,
            outcome: plain(&line.outcome),
            tools: json(&line.tools)?,
            visibility: json(&line.visibility)?,
            open,
            told,
            heard,
            said_by: names.into_iter().flatten().map(|it| fold_of(it)).collect(),
            words: lexemes(scope, &line.text),
            asker: line.asked.as_ref().map(|asked| plain(&asked.by)),
            asked_at: line.asked.as_ref().map(|asked| asked.at),
        })
    }
}

impl Postgres {
    /// Fails without `lease`, if that is needed.
    pub(super) async fn write(
        &self,
        scope: &Scope,
        lines: Vec<Utterance>,
        lease: Option<NeededLease>,
    ) -> Result<Vec<u64>, Error> {
        let fits = |uid: &Uid| (1..=UID_MAX).contains(&uid.0.chars().count());
        if let Some(line) = lines.iter().find(|line| !fits(&line.uid)) {
            let text = format!("'{}' is no identity (1 to {UID_MAX} characters)", line.uid.0);
            return Err(Error::Asked(text));
        }
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        if scope.campaign.0.is_empty() || lines.iter().any(|line| line.session.is_empty()) {
            return Err(Error::Asked("a campaign and a session need a name".to_owned()));
        }
        let uids: Vec<String> = lines.iter().map(|line| plain(&line.uid.0)).collect();
        let mut once = HashSet::new();
        let given = lines.iter().enumerate().filter(|(place, _)| once.insert(&uids[*place]));
        let given = given.map(|(place, line)| Given::of(scope, place, line));
        let given = json(&given.collect::<Result<Vec<_>, _>>()?)?;
        let numbers = self.numbers(&plain(&scope.key()), &given, lease.as_ref()).await?;
        if let Some(lease) = lease.filter(|_| numbers.is_empty()) {
            return Err(Error::Fenced(lease.guild));
        }
        Ok(uids.iter().filter_map(|uid| numbers.get(uid).copied()).collect())
    }

    async fn numbers(
        &self,
        scope: &str,
        given: &str,
        lease: Option<&NeededLease>,
    ) -> Result<HashMap<String, u64>, Error> {
        let shard = lease.map(|lease| lease.shard);
        let owner = lease.map(|lease| lease.run.as_str());
        let epoch = lease.map(|lease| lease.epoch);
        let client = self.client().await?;
        let statement = client.prepare_cached(WRITE).await?;
        let mut tries = 1;
        let rows = loop {
            let rows = client.query(&statement, &[&scope, &given, &shard, &owner, &epoch]).await;
            match rows {
                // Another writer has just added one of them: the retry finds it.
                Err(error)
                    if error.code() == Some(&SqlState::UNIQUE_VIOLATION) && tries < TRIES =>
                {
                    tries += 1;
                }
                rows => break rows?,
            }
        };
        let number = |row: &tokio_postgres::Row| {
            Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.cast_unsigned()))
        };
        rows.iter().map(number).collect()
    }
}

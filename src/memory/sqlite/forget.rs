//! Withdrawing and deleting lines, with everything derived from them.
//!
//! Entry functions: [`withdraw`], [`forget`]. **Never**: leaves a word of them in the index.

use rusqlite::{Connection, Params, params};

use super::{
    super::{Error, Forget, Forgotten, Present, Uid},
    automation, campaign, failure,
    rows::json,
    run,
};

/// A withdrawn line; its speaker stays.
const WITHDRAWN: u8 = 1;
/// A deleted person's line, or an answer to one.
const FORGOTTEN: u8 = 2;

pub fn withdraw(db: &Connection, key: &str, lines: &[Uid]) -> Result<Forgotten, Error> {
    let campaign = campaign(db, key)?;
    doom(db)?;
    for uid in lines {
        run(
            db,
            "INSERT OR IGNORE INTO doomed SELECT id, session, seq, uid FROM line
             WHERE campaign = ? AND uid = ? AND gone = 0",
            params![campaign, uid.0],
        )?;
    }
    let derived = remove_derived(db, campaign)?;
    let lines = blank(db, WITHDRAWN)?;
    Ok(Forgotten { sessions: 0, lines, derived })
}

pub fn forget(db: &Connection, key: &str, what: &Forget) -> Result<Forgotten, Error> {
    let campaign = campaign(db, key)?;
    doom(db)?;
    match what {
        Forget::Player { id: player, before } => {
            run(
                db,
                "INSERT INTO doomed SELECT id, session, seq, uid FROM line
                 WHERE campaign = ?1 AND (speaker_id = ?2 AND at < ?3
                     OR asker = ?2 AND asked_at < ?3)",
                params![campaign, player, before],
            )?;
            let derived = remove_derived(db, campaign)?;
            let said =
                "SELECT count(*) FROM doomed JOIN line USING (id) WHERE speaker_id IS NOT NULL";
            let lines = db.query_row(said, [], |row| row.get(0)).map_err(failure)?;
            blank(db, FORGOTTEN)?;
            leave(db, campaign, player)?;
            automation::forget(db, campaign, player, *before)?;
            Ok(Forgotten { sessions: 0, lines, derived })
        }
        Forget::Session(session) => {
            let old = "SELECT id FROM session WHERE campaign = ?1 AND key = ?2";
            sessions(db, campaign, old, params![campaign, session])
        }
        Forget::Before(at) => {
            automation::forget_runs(db, campaign, *at)?;
            let old = "SELECT s.id FROM session s WHERE s.campaign = ?1 AND coalesce(
                (SELECT max(at) FROM line WHERE session = s.id), s.started, ?2) < ?2";
            sessions(db, campaign, old, params![campaign, at])
        }
    }
}

fn doom(db: &Connection) -> Result<(), Error> {
    db.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS doomed (
            id INTEGER PRIMARY KEY, session INTEGER, seq INTEGER, uid TEXT
         );
         DELETE FROM doomed;",
    )
    .map_err(failure)
}

fn remove_derived(db: &Connection, campaign: i64) -> Result<u64, Error> {
    let touched = "SELECT i.id FROM item i WHERE EXISTS (
        SELECT 1 FROM doomed d WHERE d.session = i.session
        AND (i.first IS NULL OR d.seq BETWEEN i.first AND i.last))";
    run(
        db,
        &format!(
            "UPDATE line SET indexed = 0 FROM item i WHERE i.id IN ({touched})
             AND i.kind = 'chunk' AND line.session = i.session
             AND line.seq BETWEEN i.first AND i.last"
        ),
        [],
    )?;
    let items = run(db, &format!("DELETE FROM item WHERE id IN ({touched})"), [])?;
    let relations = run(
        db,
        "DELETE FROM relation WHERE campaign = ? AND utterance IN (SELECT uid FROM doomed)",
        [campaign],
    )?;
    run(db, "UPDATE session SET summary = NULL WHERE id IN (SELECT session FROM doomed)", [])?;
    Ok(items + relations)
}

fn blank(db: &Connection, how: u8) -> Result<u64, Error> {
    run(
        db,
        "UPDATE line SET text = '', raw = NULL, tools = NULL, gone = ?1,
             speaker_id = iif(?1 = 2, NULL, speaker_id), speaker = iif(?1 = 2, '', speaker),
             character = iif(?1 = 2, NULL, character), said_by = iif(?1 = 2, '', said_by),
             asker = iif(?1 = 2, NULL, asker), asked_at = iif(?1 = 2, NULL, asked_at)
         WHERE id IN (SELECT id FROM doomed)",
        [how],
    )
}

fn leave(db: &Connection, campaign: i64, player: &str) -> Result<(), Error> {
    let mut sets = db
        .prepare_cached("SELECT id, members FROM presence WHERE campaign = ?")
        .map_err(failure)?;
    let sets = sets.query_map([campaign], |row| Ok((row.get(0)?, super::rows::parsed(row, 1)?)));
    let sets: Vec<(i64, Vec<Present>)> = sets.and_then(Iterator::collect).map_err(failure)?;
    for (id, mut members) in sets {
        let before = members.len();
        members.retain(|member| member.player.as_deref() != Some(player));
        if members.len() < before {
            run(db, "UPDATE presence SET members = ? WHERE id = ?", params![json(&members)?, id])?;
        }
    }
    Ok(())
}

fn sessions<P: Params + Copy>(
    db: &Connection,
    campaign: i64,
    which: &str,
    given: P,
) -> Result<Forgotten, Error> {
    let insert = format!(
        "INSERT INTO doomed SELECT id, session, seq, uid FROM line WHERE session IN ({which})"
    );
    let lines = run(db, &insert, given)?;
    let mut derived = remove_derived(db, campaign)?;
    // Items without lines go too.
    derived += run(db, &format!("DELETE FROM item WHERE session IN ({which})"), given)?;
    derived += run(
        db,
        &format!(
            "DELETE FROM relation WHERE campaign = ?1 AND session IN (
                 SELECT key FROM session WHERE id IN ({which}))"
        ),
        given,
    )?;
    let sessions = run(db, &format!("DELETE FROM session WHERE id IN ({which})"), given)?;
    run(
        db,
        "UPDATE campaign SET lines = (SELECT count(*) FROM line WHERE campaign = ?1) WHERE id = ?1",
        [campaign],
    )?;
    Ok(Forgotten { sessions, lines, derived })
}

//! Ranked search of lines.
//!
//! Entry function: [`search`]. **Never**: lets what somebody typed be read as a query's syntax.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, Row, ToSql, params, params_from_iter};

use super::{
    super::{Error, Hit, LineQuery, Viewer, text::words},
    campaign, failure,
    lines::limit,
    rows::{self, Eyes, named},
};

/// A word in one of so many lines says nothing about any of them.
const COMMON: u64 = 20;
/// Campaigns with fewer lines are searched for every word.
const SMALL: u64 = 2_000;
/// Lines in which common words are looked for when there are no others: the last ones.
const RECENT: u64 = 20_000;
/// Words whose frequency is remembered.
const KNOWN_MAX: usize = 4_096;

/// Whether a word was common when a campaign had so many lines.
#[derive(Clone, Copy, Debug)]
pub struct Frequency {
    lines: u64,
    is_common: bool,
}

/// What has been found out about words, by campaign.
pub type Common = Arc<Mutex<HashMap<(i64, String), Frequency>>>;

/// Lines that hold words of the query, the best first.
pub fn search(
    db: &Connection,
    key: &str,
    query: &LineQuery,
    viewer: &Viewer,
    common: &Common,
) -> Result<Vec<Hit>, Error> {
    let all = words(&query.text);
    let campaign = campaign(db, key)?;
    if all.is_empty() || campaign < 0 {
        return Ok(Vec::new());
    }
    let mut telling = Vec::new();
    for word in &all {
        if !is_common(db, campaign, word, common)? {
            telling.push(word.as_str());
        }
    }
    let recent = telling.is_empty();
    let matching = if recent {
        matching(campaign, &all.iter().map(String::as_str).collect::<Vec<_>>())
    } else {
        matching(campaign, &telling)
    };
    let eyes = Eyes::from(viewer);
    // The words first, whatever else is asked for: CROSS JOIN keeps the order.
    let mut sql = format!(
        "SELECT {}, -bm25(line_text, 0.0, 1.0) AS score
         FROM line_text CROSS JOIN line l ON l.id = line_text.rowid
         CROSS JOIN session s ON s.id = l.session CROSS JOIN presence p ON p.id = l.presence
         WHERE line_text MATCH ?2 AND l.gone = 0 AND {}",
        rows::LINE,
        eyes.line()
    );
    let mut given: Vec<Box<dyn ToSql>> = vec![Box::new(eyes.name), Box::new(matching)];
    let mut when = |condition: &str, value: Box<dyn ToSql>| {
        given.push(value);
        sql.push_str(&condition.replace("?_", &format!("?{}", given.len())));
    };
    if let Some(session) = &query.session {
        when(" AND s.key = ?_", Box::new(session.clone()));
    }
    if let Some(from) = query.from {
        when(" AND l.at >= ?_", Box::new(from));
    }
    if let Some(to) = query.to {
        when(" AND l.at < ?_", Box::new(to));
    }
    if let Some(speaker) = &query.speaker {
        when(" AND instr(l.said_by, ?_) > 0", Box::new(named(speaker)));
    }
    if recent {
        when(" AND line_text.rowid >= ?_", Box::new(recent_from(db, campaign)?));
    }
    sql.push_str(" ORDER BY score DESC, l.id DESC LIMIT ");
    sql.push_str(&limit(query.limit).to_string());
    let mut found = db.prepare_cached(&sql).map_err(failure)?;
    let hits = found.query_map(params_from_iter(given), |row: &Row<'_>| {
        Ok(Hit { line: rows::line(row)?, score: row.get("score")? })
    });
    hits.and_then(Iterator::collect).map_err(failure)
}

/// The query for lines of a campaign with any of `words`, which are letters and digits.
pub fn matching(campaign: i64, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("campaign : \"c{campaign}\" AND text : ({})", words.join(" OR "))
}

fn is_common(db: &Connection, campaign: i64, word: &str, common: &Common) -> Result<bool, Error> {
    let mut lines =
        db.prepare_cached("SELECT lines FROM campaign WHERE id = ?").map_err(failure)?;
    let lines: u64 = lines.query_row([campaign], |row| row.get(0)).map_err(failure)?;
    if lines < SMALL {
        return Ok(false);
    }
    let key = (campaign, word.to_owned());
    let known = common.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    // What a fifth more lines would change is not worth counting for.
    if let Some(known) = known
        && lines <= known.lines + known.lines / 5
    {
        return Ok(known.is_common);
    }
    let mut count = db
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM line_text WHERE line_text MATCH ? LIMIT ?)",
        )
        .map_err(failure)?;
    let bound = lines / COMMON + 1;
    let found: u64 = count
        .query_row(params![matching(campaign, &[word]), bound], |row| row.get(0))
        .map_err(failure)?;
    let is_common = found == bound;
    let mut common = common.lock().unwrap_or_else(PoisonError::into_inner);
    if common.len() >= KNOWN_MAX {
        common.clear();
    }
    common.insert(key, Frequency { lines, is_common });
    Ok(is_common)
}

/// The row from which on lines count as recent.
fn recent_from(db: &Connection, campaign: i64) -> Result<i64, Error> {
    let mut row = db
        .prepare_cached(
            "SELECT coalesce((SELECT id FROM line WHERE campaign = ? ORDER BY id DESC
             LIMIT 1 OFFSET ?), 0)",
        )
        .map_err(failure)?;
    row.query_row(params![campaign, RECENT], |row| row.get(0)).map_err(failure)
}

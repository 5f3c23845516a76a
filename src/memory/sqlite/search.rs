//! Ranked search of lines.
//!
//! Entry function: [`search`]. The index tells which lines contain which words; the most promising
//! are read and ranked by BM25 here, because FTS5's ranking would read every match. **Never**:
//! parses typed text as query syntax.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, ToSql, params_from_iter};

use super::{
    super::{
        Error, LineHit, LineQuery, Viewer,
        text::{fold, words},
    },
    campaign, failure,
    postings::{Postings, Span, WordRows},
    rows::{self, Eyes, json, named},
};

/// Lines read for each requested one, and at least.
const READ: (usize, usize) = (4, 64);
/// Lines read at once, some of which may be hidden.
const CHUNK: usize = 256;
/// Most rounds of a search; each reads older lines while too few are visible.
const ROUNDS: usize = 6;
/// BM25: saturation of repeated words, and weight of a line's length.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A row, and the words its line contains, one bit each.
type Candidate = (i64, u32);

pub fn search(
    db: &Connection,
    key: &str,
    query: &LineQuery,
    viewer: &Viewer,
) -> Result<Vec<LineHit>, Error> {
    let words = words(&query.text);
    let campaign = campaign(db, key)?;
    if words.is_empty() || campaign < 0 {
        return Ok(Vec::new());
    }
    let Some(span) = Span::of(db, campaign, query)? else { return Ok(Vec::new()) };
    let (each, least) = READ;
    let limit = if query.limit == 0 { usize::MAX } else { query.limit };
    let enough = limit.saturating_mul(each).max(least);
    let (mut postings, mut held) = Postings::open(db, campaign, span, words)?;
    let reader = Reader::new(campaign, query, viewer);
    let (mut texts, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..ROUNDS {
        let mut candidates = by_worth(held, &postings);
        candidates.retain(|(id, _)| seen.insert(*id));
        for some in candidates.chunks(CHUNK) {
            reader.read(db, some, enough, &mut texts)?;
        }
        if texts.len() >= limit || postings.is_at_end() {
            break;
        }
        held = postings.next(db)?;
    }
    let mut best = ranked(&texts, &postings);
    best.truncate(limit);
    let sql = format!("SELECT {} FROM {} WHERE l.id = ?", rows::LINE, rows::LINE_FROM);
    let mut line = db.prepare_cached(&sql).map_err(failure)?;
    let mut hit = |(id, score)| {
        Ok(LineHit { line: line.query_row([id], rows::line).map_err(failure)?, score })
    };
    best.into_iter().map(&mut hit).collect()
}

/// Lines with words, most promising first, then latest.
fn by_worth(held: Vec<WordRows>, postings: &Postings) -> Vec<Candidate> {
    let mut rows: HashMap<i64, u32> = HashMap::new();
    for (place, ids) in held {
        for id in ids {
            *rows.entry(id).or_default() |= 1 << place;
        }
    }
    // Many lines share few different sets of words.
    let mut worth: HashMap<u32, f64> = HashMap::new();
    for holds in rows.values() {
        worth.entry(*holds).or_insert_with(|| {
            let held = (0..u32::BITS as usize).filter(|place| holds >> place & 1 == 1);
            held.map(|place| postings.worth(place)).sum()
        });
    }
    let mut rows: Vec<(i64, u32)> = rows.into_iter().collect();
    let worth = |holds: &u32| worth.get(holds).copied().unwrap_or_default();
    rows.sort_unstable_by(|a, b| worth(&b.1).total_cmp(&worth(&a.1)).then(b.0.cmp(&a.0)));
    rows
}

/// Rows of the read lines with their scores, best first, then latest.
fn ranked(texts: &[(Candidate, String)], postings: &Postings) -> Vec<(i64, f64)> {
    let counted: Vec<(Vec<u32>, f64)> =
        texts.iter().map(|(_, text)| counts(text, postings)).collect();
    let all: f64 = counted.iter().map(|(_, length)| length).sum();
    let usual = (all / counted.len().max(1) as f64).max(1.0);
    let score = |(((id, holds), _), (counts, length)): (&(Candidate, String), &(Vec<u32>, f64))| {
        let length = 1.0 - B + B * length / usual;
        let told = counts.iter().enumerate().map(|(place, count)| {
            // The index may know a form of the word that is not in the text.
            let count = f64::from(*count.max(&(holds >> place & 1)));
            postings.worth(place) * count * (K1 + 1.0) / (count + K1 * length)
        });
        (*id, told.sum())
    };
    let mut scores: Vec<(i64, f64)> = texts.iter().zip(&counted).map(score).collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    scores
}

fn counts(text: &str, postings: &Postings) -> (Vec<u32>, f64) {
    let folded = fold(text);
    let mut counts = vec![0; postings.words().count()];
    let mut length = 0.0;
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        length += 1.0;
        for (count, _) in counts.iter_mut().zip(postings.words()).filter(|(_, it)| *it == word) {
            *count += 1;
        }
    }
    (counts, length)
}

struct Reader {
    sql: String,
    given: Vec<Box<dyn ToSql>>,
}

impl Reader {
    fn new(campaign: i64, query: &LineQuery, viewer: &Viewer) -> Self {
        let eyes = Eyes::from(viewer);
        // CROSS JOIN keeps the order.
        let sql = format!(
            "SELECT c.key, l.text FROM json_each(?2) c CROSS JOIN line l ON l.id = c.value
             WHERE l.campaign = ?3 AND l.gone = 0 AND {}",
            eyes.line()
        );
        let given: Vec<Box<dyn ToSql>> =
            vec![Box::new(eyes.name), Box::new(""), Box::new(campaign)];
        let mut reader = Self { sql, given };
        let mut when = |condition: &str, value: Box<dyn ToSql>| {
            reader.given.push(value);
            reader.sql.push_str(&condition.replace("?_", &format!("?{}", reader.given.len())));
        };
        if let Some(session) = &query.session {
            when(
                " AND l.session = (SELECT id FROM session WHERE campaign = ?3 AND key = ?_)",
                Box::new(session.clone()),
            );
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
        reader
    }

    fn read(
        &self,
        db: &Connection,
        candidates: &[Candidate],
        enough: usize,
        texts: &mut Vec<(Candidate, String)>,
    ) -> Result<(), Error> {
        if texts.len() >= enough {
            return Ok(());
        }
        let ids: Vec<i64> = candidates.iter().map(|(id, _)| *id).collect();
        let ids: Box<dyn ToSql> = Box::new(json(&ids)?);
        let given = self.given.iter().enumerate();
        let given = given.map(|(place, value)| if place == 1 { &ids } else { value });
        let mut lines = db.prepare_cached(&self.sql).map_err(failure)?;
        let mut rows = lines.query(params_from_iter(given)).map_err(failure)?;
        while texts.len() < enough
            && let Some(row) = rows.next().map_err(failure)?
        {
            let place: usize = row.get(0).map_err(failure)?;
            if let Some(candidate) = candidates.get(place) {
                texts.push((*candidate, row.get(1).map_err(failure)?));
            }
        }
        Ok(())
    }
}

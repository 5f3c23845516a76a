//! Lines that contain a word, latest first, in parts.
//!
//! Entry type: [`Postings`]. **Never**: reads all lines of a very common word.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{Error, LineQuery},
    failure,
};

/// Lines read per part: of one word, of all words, and of each at least.
const PART: (usize, usize, usize) = (4_000, 8_000, 250);
/// A word in more than one of [`COMMON`] lines, and in more than [`FEW`], is too common to rank by.
const COMMON: f64 = 20.0;
const FEW: f64 = 100.0;
/// Words tried with the rarest when all have too many lines to read.
const BESIDE: usize = 3;

/// The searched lines, by row.
#[derive(Clone, Copy)]
pub struct Span {
    first: i64,
    last: i64,
    lines: f64,
}

impl Span {
    /// The span of `query`; `None`: no lines.
    pub fn of(db: &Connection, campaign: i64, query: &LineQuery) -> Result<Option<Self>, Error> {
        let sql = if query.session.is_some() || query.from.is_some() || query.to.is_some() {
            // Within a session lines are ordered by number and time.
            "SELECT min(first.id), max(last.id), sum(last.seq) FROM session s
             JOIN line first ON first.session = s.id AND first.seq = 1
             JOIN line last ON last.session = s.id
                 AND last.seq = (SELECT max(seq) FROM line WHERE session = s.id)
             WHERE s.campaign = ?1 AND (?2 IS NULL OR s.key = ?2)
                 AND (?3 IS NULL OR last.at >= ?3) AND (?4 IS NULL OR first.at < ?4)"
        } else {
            "SELECT (SELECT min(id) FROM line WHERE campaign = ?1),
                 (SELECT max(id) FROM line WHERE campaign = ?1), lines
             FROM campaign WHERE id = ?1 AND (?2, ?3, ?4) IS (NULL, NULL, NULL)"
        };
        let mut span = db.prepare_cached(sql).map_err(failure)?;
        let given = params![campaign, query.session, query.from, query.to];
        let found = span.query_row(given, |row| {
            let ends: (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
            let (Some(first), Some(last)) = ends else { return Ok(None) };
            Ok(Some(Self { first, last, lines: row.get::<_, i64>(2)? as f64 }))
        });
        Ok(found.optional().map_err(failure)?.flatten())
    }
}

struct Word {
    text: String,
    next: i64,
    is_at_end: bool,
    /// Share of lines with the word.
    share: f64,
}

pub struct Postings {
    span: Span,
    /// Prefix of each query that limits it to the campaign; empty: lines are checked when read.
    within: String,
    words: Vec<Word>,
    each: usize,
}

pub type WordRows = (usize, Vec<i64>);

impl Postings {
    /// Starts with `words`, which are letters and digits; omits common ones, unless all are. Also
    /// returns the first part.
    pub fn open(
        db: &Connection,
        campaign: i64,
        span: Span,
        words: Vec<String>,
    ) -> Result<(Self, Vec<WordRows>), Error> {
        let (one, all, least) = PART;
        let each = (all / words.len().max(1)).clamp(least, one);
        let next = span.last;
        let words = words.into_iter().map(|text| Word { text, next, is_at_end: false, share: 0.0 });
        let within = match owns_most(db, campaign)? {
            // Reading filters out lines of other campaigns.
            true => String::new(),
            false => format!("campaign : \"c{campaign}\" AND "),
        };
        let mut postings = Self { span, within, words: words.collect(), each };
        let held = postings.next(db)?;
        for (place, ids) in &held {
            postings.judge(*place, ids);
        }
        let mut held = postings.without_common(held);
        held.extend(postings.beside(db)?);
        Ok((postings, held))
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// Inverse document frequency of a word, higher for rarer words.
    pub fn worth(&self, place: usize) -> f64 {
        let share = self.words.get(place).map_or(1.0, |word| word.share);
        let held = share * self.span.lines;
        (1.0 + (self.span.lines - held + 0.5) / (held + 0.5)).ln()
    }

    pub fn is_at_end(&self) -> bool {
        self.words.iter().all(|word| word.is_at_end)
    }

    pub fn next(&mut self, db: &Connection) -> Result<Vec<WordRows>, Error> {
        let mut held = Vec::new();
        for (place, word) in self.words.iter_mut().enumerate().filter(|(_, it)| !it.is_at_end) {
            let query = format!("{}text : \"{}\"", self.within, word.text);
            let ids = latest(db, &query, self.span.first..=word.next, self.each)?;
            word.is_at_end = ids.len() < self.each;
            word.next = ids.last().map_or(word.next, |id| id - 1);
            held.push((place, ids));
        }
        Ok(held)
    }

    /// Sets a word's share of lines: counted, or estimated from the distance of its lines.
    fn judge(&mut self, place: usize, ids: &[i64]) {
        let (Some(word), Span { first, last, lines }) = (self.words.get_mut(place), self.span)
        else {
            return;
        };
        let part = match word.is_at_end {
            true => 1.0,
            false => (last - word.next) as f64 / (last - first + 1) as f64,
        };
        word.share = (ids.len() as f64 / (lines * part).max(1.0)).min(1.0);
    }

    fn without_common(&mut self, held: Vec<WordRows>) -> Vec<WordRows> {
        let lines = self.span.lines;
        let is_common = |word: &Word| word.share * COMMON > 1.0 && word.share * lines > FEW;
        let kept: Vec<bool> = self.words.iter().map(|word| !is_common(word)).collect();
        if !kept.contains(&true) {
            return held;
        }
        let mut keep = kept.iter();
        self.words.retain(|_| keep.next().copied().unwrap_or_default());
        let held = held.into_iter().filter(|(place, _)| kept.get(*place) == Some(&true));
        held.enumerate().map(|(place, (_, ids))| (place, ids)).collect()
    }

    /// Lines with the rarest word and another; empty unless every word has too many lines.
    fn beside(&self, db: &Connection) -> Result<Vec<WordRows>, Error> {
        let mut places: Vec<usize> = (0..self.words.len()).collect();
        places.sort_by(|a, b| self.worth(*b).total_cmp(&self.worth(*a)));
        let (Some((rarest, others)), false) =
            (places.split_first(), self.words.iter().any(|word| word.is_at_end))
        else {
            return Ok(Vec::new());
        };
        let text = |place: &usize| self.words.get(*place).map(|word| &word.text);
        let mut held = Vec::new();
        for other in others.iter().take(BESIDE) {
            let (Some(one), Some(two)) = (text(rarest), text(other)) else { continue };
            let query = format!("{}text : (\"{one}\" AND \"{two}\")", self.within);
            let ids = latest(db, &query, self.span.first..=self.span.last, self.each)?;
            held.extend([(*rarest, ids.clone()), (*other, ids)]);
        }
        Ok(held)
    }
}

/// True if most lines of the file are this campaign's; then filtering while reading is faster.
fn owns_most(db: &Connection, campaign: i64) -> Result<bool, Error> {
    let sql = "SELECT 2 * (SELECT lines FROM campaign WHERE id = ?) >= sum(lines) FROM campaign";
    let mut owns = db.prepare_cached(sql).map_err(failure)?;
    owns.query_row([campaign], |row| row.get(0)).map_err(failure)
}

fn latest(
    db: &Connection,
    query: &str,
    rows: RangeInclusive<i64>,
    count: usize,
) -> Result<Vec<i64>, Error> {
    let mut ids = db
        .prepare_cached(
            "SELECT rowid FROM line_text WHERE line_text MATCH ?1 AND rowid BETWEEN ?2 AND ?3
             ORDER BY rowid DESC LIMIT ?4",
        )
        .map_err(failure)?;
    let ids = ids.query_map(params![query, rows.start(), rows.end(), count], |row| row.get(0));
    ids.and_then(Iterator::collect).map_err(failure)
}

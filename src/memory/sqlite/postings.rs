//! Lines that hold a word, the latest first and a part at a time.
//!
//! Entry type: [`Postings`]. **Never**: reads all lines of a word that very many hold.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{Error, LineQuery},
    failure::failure,
};

/// Lines that are looked at in one part: of one word, of all words, and of each at least.
const PART: (usize, usize, usize) = (4_000, 8_000, 250);
/// A word in more than one of so many lines, and in more than so many, says nothing about any.
const COMMON: f64 = 20.0;
const FEW: f64 = 100.0;
/// Words that are looked for beside the rarest, when all are in too many lines to look at them all.
const BESIDE: usize = 3;

/// Lines among which something is looked for, by their rows.
#[derive(Clone, Copy)]
pub struct Span {
    first: i64,
    last: i64,
    /// Number of the campaign's lines in the span.
    lines: f64,
}

impl Span {
    /// Span that `query` looks in; `None`: it has no lines.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(db: &Connection, campaign: i64, query: &LineQuery) -> Result<Option<Self>, Error> {
        let sql = if query.session.is_some() || query.from.is_some() || query.to.is_some() {
            // Within a session lines follow each other by number and by time.
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

/// A word and how far its lines were looked at.
struct Word {
    text: String,
    /// Rows after this one were looked at.
    next: i64,
    is_at_end: bool,
    /// Share of lines that hold it.
    share: f64,
}

/// The lines of some words.
pub struct Postings {
    span: Span,
    /// Beginning of each query, which keeps it within the campaign; empty: lines are checked when
    /// they are read.
    within: String,
    words: Vec<Word>,
    each: usize,
}

/// Rows of lines that hold a word, and the place of that word.
pub type WordRows = (usize, Vec<i64>);

impl Postings {
    /// Those of `words`, which are letters and digits. Words that are common are left out, unless
    /// all are. Gives the first part too.
    ///
    /// # Errors
    /// The file cannot be read.
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
            // Lines of other campaigns are left out when they are read.
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

    /// The words, in their places.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }

    /// Weight of the word in this place: its inverse document frequency, higher for rarer words.
    pub fn worth(&self, place: usize) -> f64 {
        let share = self.words.get(place).map_or(1.0, |word| word.share);
        let held = share * self.span.lines;
        (1.0 + (self.span.lines - held + 0.5) / (held + 0.5)).ln()
    }

    /// True if all lines were looked at.
    pub fn is_at_end(&self) -> bool {
        self.words.iter().all(|word| word.is_at_end)
    }

    /// The next part of every word.
    ///
    /// # Errors
    /// The file cannot be read.
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

    /// Sets the share of lines that hold a word: counted, or estimated from how close those found are.
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

    /// Leaves out what is common.
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

    /// Lines that hold both the rarest word and another; empty unless each word has too many lines.
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

/// True if most lines of the file are this campaign's; then it is quicker not to ask the index.
fn owns_most(db: &Connection, campaign: i64) -> Result<bool, Error> {
    let sql = "SELECT 2 * (SELECT lines FROM campaign WHERE id = ?) >= sum(lines) FROM campaign";
    let mut owns = db.prepare_cached(sql).map_err(failure)?;
    owns.query_row([campaign], |row| row.get(0)).map_err(failure)
}

/// The latest of `rows` that match, at most `count`.
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

//! Estimated number of lines that contain a word.
//!
//! Entry: `Postgres::weighed`. **Never**: counts words in the server's sample.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use deadpool_postgres::Client;
use tokio::time::Instant;

use super::{
    sql::{Sql, lexeme, plain, scope_word},
    store::{Postgres, WordSample},
};
use crate::memory::{Error, Scope};

/// Share of lines above which a word is common.
const COMMON: f64 = 0.05;
/// Number of lines below which no word is common.
const FEW: f64 = 100.0;

/// How long the server's sample is reused.
const FRESH: Duration = Duration::from_secs(600);
/// The server's sample of words in lines, if any.
const SAMPLE: &str = "SELECT c.reltuples, s.most_common_elems::text::text[], \
     s.most_common_elem_freqs FROM pg_stats s JOIN pg_class c ON c.oid = 'utterance'::regclass \
     WHERE s.schemaname = current_schema() AND s.tablename = 'utterance' AND s.attname = 'words' \
     AND s.most_common_elems IS NOT NULL";

pub(super) struct Word {
    pub(super) text: String,
    /// Estimated share of the scope's lines with the word.
    pub(super) share: f64,
    /// Estimated number of the scope's lines with the word.
    pub(super) lines: f64,
    /// Number of the scope's lines without it.
    others: f64,
}

impl Word {
    fn new(text: String, share: f64, all: f64) -> Self {
        let lines = share * all;
        Self { text, share, lines, others: (all - lines).max(0.0) }
    }

    /// Inverse document frequency, higher for rarer words.
    pub(super) fn worth(&self) -> f64 {
        (1.0 + (self.others + 0.5) / (self.lines + 0.5)).ln()
    }

    fn is_common(&self) -> bool {
        self.share > COMMON && self.lines > FEW
    }
}

pub(super) struct Weighed {
    pub(super) words: Vec<Word>,
    pub(super) own: f64,
}

pub(super) fn told_by(words: &[Word]) -> Vec<String> {
    words.iter().map(|word| word.text.clone()).collect()
}

impl Postgres {
    /// `words` with their line counts. Omits common words, unless all are.
    pub(super) async fn weighed(
        &self,
        client: &Client,
        scope: &Scope,
        words: Vec<String>,
    ) -> Result<Weighed, Error> {
        let (weighed, own): (Vec<Word>, f64) = match self.sample(client).await? {
            _ if words.is_empty() => (Vec::new(), 0.0),
            Some(sample) => {
                let own = sample.share(&scope_word(scope));
                let weigh = |word: String| {
                    let share = sample.share(&word);
                    Word::new(word, share, sample.lines * own)
                };
                (words.into_iter().map(weigh).collect(), own)
            }
            None => (counted(client, scope, words).await?, 0.0),
        };
        let (common, telling): (Vec<Word>, Vec<Word>) =
            weighed.into_iter().partition(Word::is_common);
        let mut words = if telling.is_empty() { common } else { telling };
        words.sort_by(|a, b| a.lines.total_cmp(&b.lines));
        Ok(Weighed { words, own })
    }

    /// `None`: the server has not sampled the lines yet.
    async fn sample(&self, client: &Client) -> Result<Option<Arc<WordSample>>, Error> {
        let held = self.sample.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(sample) = held
            && sample.read.elapsed() < FRESH
        {
            return Ok(Some(sample));
        }
        let statement = client.prepare_cached(SAMPLE).await?;
        let Some(row) = client.query_opt(&statement, &[]).await? else { return Ok(None) };
        let lines = f64::from(row.try_get::<_, f32>(0)?).max(1.0);
        let (words, shares): (Vec<String>, Vec<f32>) = (row.try_get(1)?, row.try_get(2)?);
        let others = shares.get(words.len()).copied().unwrap_or_default();
        let shares = words.into_iter().zip(shares.into_iter().map(f64::from)).collect();
        let others = (f64::from(others) / 2.0).max(1.0 / lines);
        let sample = Arc::new(WordSample { lines, shares, others, read: Instant::now() });
        *self.sample.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&sample));
        Ok(Some(sample))
    }
}

/// Counts the lines of each word. Affordable only for a scope so new that the server has no sample
/// of it.
async fn counted(client: &Client, scope: &Scope, words: Vec<String>) -> Result<Vec<Word>, Error> {
    let own = lexeme(&scope_word(scope));
    let queries = words.iter().map(|word| format!("{own} & {}", lexeme(word)));
    let mut sql = Sql::new("SELECT (SELECT count(*) FROM utterance WHERE scope = ");
    sql.bind(plain(&scope.key()));
    sql.push("), (SELECT count(*) FROM utterance u WHERE u.words @@ ");
    sql.push("q.query::tsquery) FROM unnest(").bind(queries.collect::<Vec<_>>());
    sql.push("::text[]) WITH ORDINALITY AS q (query, place) ORDER BY q.place");
    let weigh = |(row, word): (&tokio_postgres::Row, String)| {
        let (all, held): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let (all, held) = ((all as f64).max(1.0), held as f64);
        Ok(Word::new(word, held / all, all))
    };
    sql.query(client).await?.iter().zip(words).map(weigh).collect()
}

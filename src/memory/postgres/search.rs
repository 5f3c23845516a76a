//! Ranked search of lines in PostgreSQL.
//!
//! Entry: `Postgres::find_lines`. The index returns the lines of a word unordered, and each must be
//! read to be ranked, so the search reads few: lines with rare words; if all words are common,
//! lines with the rarest and another word, then the latest lines with any; if those are too few,
//! some lines with the rarest word. **Never**: reads every line of a very common word, unless all
//! lines are requested.

use std::collections::HashSet;

use deadpool_postgres::Client;

use super::{
    sql::{Sql, any_of, asked, fold_of, lexeme, plain, scope_word},
    store::Postgres,
    transcript::{LINE, line},
    words::{Weighed, Word, told_by},
};
use crate::memory::{Error, LineHit, LineQuery, Scope, Viewer};

/// Most lines read through the index for one query; each is a random access.
const READ_MAX: f64 = 800.0;
/// Latest lines scanned in order where the index would return more.
const LATEST: usize = 2_000;
/// Fewest lines read with a word, in index order, if the others are too few.
const ANY: usize = 120;
/// The index is not asked about a scope with a larger share of all lines.
const MOST: f64 = 0.5;

struct Asked<'a> {
    scope: &'a Scope,
    query: &'a LineQuery,
    viewer: &'a Viewer,
    words: &'a [Word],
    own: f64,
}

impl Postgres {
    /// Lines with words of the query, best first, then latest.
    pub(super) async fn find_lines(
        &self,
        scope: &Scope,
        query: LineQuery,
        viewer: Viewer,
    ) -> Result<Vec<LineHit>, Error> {
        let client = self.client().await?;
        let Weighed { words, own } = self.weighed(&client, scope, asked(&query.text)).await?;
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let asked = Asked { scope, query: &query, viewer: &viewer, words: &words, own };
        let mut sum = 0.0;
        let few = words.iter().take_while(|word| {
            sum += word.lines;
            sum <= READ_MAX
        });
        let (few, many) = words.split_at(few.count());
        let mut hits = Hits::of(&query);
        if !few.is_empty() {
            hits.add(asked.indexed(&client, &any_of(&told_by(few)), 0).await?);
        }
        if many.is_empty() || hits.are_enough() {
            return Ok(hits.best());
        }
        if let Some((rarest, others)) = many.split_first()
            && few.is_empty()
            && !others.is_empty()
        {
            let beside: f64 = others.iter().map(|word| word.share).sum();
            if rarest.lines * beside <= READ_MAX {
                let both = format!("{} & ({})", lexeme(&rarest.text), any_of(&told_by(others)));
                hits.add(asked.indexed(&client, &both, 0).await?);
            }
        }
        hits.add(asked.latest(&client).await?);
        for word in many {
            if hits.are_enough() {
                break;
            }
            // A larger limit reads more, and no limit reads all.
            let most = if query.limit == 0 { 0 } else { query.limit.max(ANY) };
            hits.add(asked.indexed(&client, &lexeme(&word.text), most).await?);
        }
        Ok(hits.best())
    }
}

/// Hits of several searches, each line once.
struct Hits {
    all: Vec<LineHit>,
    known: HashSet<String>,
    limit: usize,
}

impl Hits {
    fn of(query: &LineQuery) -> Self {
        let limit = if query.limit == 0 { usize::MAX } else { query.limit };
        Self { all: Vec::new(), known: HashSet::new(), limit }
    }

    fn add(&mut self, found: Vec<LineHit>) {
        for hit in found {
            if self.known.insert(hit.line.said.uid.0.clone()) {
                self.all.push(hit);
            }
        }
    }

    fn are_enough(&self) -> bool {
        self.all.len() >= self.limit
    }

    /// The best of all, then the latest.
    fn best(mut self) -> Vec<LineHit> {
        self.all.sort_by(|a, b| {
            let (one, two) = (&a.line, &b.line);
            let later = two.said.at.cmp(&one.said.at).then(two.seq.cmp(&one.seq));
            b.score.total_cmp(&a.score).then(later)
        });
        self.all.truncate(self.limit);
        self.all
    }
}

impl Asked<'_> {
    /// The best lines of a word query by index, or of `most` of them.
    async fn indexed(
        &self,
        client: &Client,
        wanted: &str,
        most: usize,
    ) -> Result<Vec<LineHit>, Error> {
        let mut sql = self.ranked();
        sql.push(" FROM (SELECT u.* FROM utterance u WHERE u.words @@ ");
        match self.own > MOST {
            // Reading filters out lines of other scopes.
            true => sql.bind(wanted.to_owned()),
            false => {
                let own = lexeme(&scope_word(self.scope));
                sql.bind(format!("{own} & ({wanted})"))
            }
        };
        sql.push("::text::tsquery AND u.scope = ").bind(plain(&self.scope.key()));
        self.filter(&mut sql);
        sql.limit(most).push(") u");
        self.best(client, sql).await
    }

    async fn latest(&self, client: &Client) -> Result<Vec<LineHit>, Error> {
        let mut sql = self.ranked();
        sql.push(" FROM (SELECT u.* FROM (SELECT s.id, s.number FROM session s WHERE s.scope = ");
        sql.bind(plain(&self.scope.key()));
        if let Some(session) = &self.query.session {
            sql.push(" AND s.id = ").bind(plain(session));
        }
        sql.push(" ORDER BY s.number DESC) s CROSS JOIN LATERAL (SELECT * FROM utterance u ");
        sql.push("WHERE u.session = s.id AND u.scope = ");
        sql.bind(plain(&self.scope.key()));
        self.at_the_time(&mut sql);
        sql.push(" ORDER BY u.seq DESC) u ORDER BY s.number DESC").limit(LATEST);
        sql.push(") u WHERE u.words @@ (SELECT ").bind(any_of(&told_by(self.words)));
        sql.push("::text::tsquery)");
        self.filter(&mut sql);
        self.best(client, sql).await
    }

    /// A statement that begins with the columns of a line and its score: the summed weight of the
    /// query's words in it.
    fn ranked(&self) -> Sql {
        let mut sql = Sql::new(&format!("SELECT {LINE}, 0::float8"));
        for word in self.words {
            sql.push(" + (u.words @@ (SELECT ").bind(lexeme(&word.text));
            sql.push("::text::tsquery))::int * ").bind(word.worth()).push("::float8");
        }
        sql.push(" AS score");
        sql
    }

    /// `AND`: matches the query, and the viewer may see it.
    fn filter(&self, sql: &mut Sql) {
        sql.push(" AND NOT u.withdrawn").lines_for(self.viewer);
        if let Some(session) = &self.query.session {
            sql.push(" AND u.session = ").bind(plain(session));
        }
        self.at_the_time(sql);
        if let Some(speaker) = &self.query.speaker {
            sql.push(" AND u.said_by @> ").bind(vec![fold_of(speaker)]);
        }
    }

    fn at_the_time(&self, sql: &mut Sql) {
        if let Some(from) = self.query.from {
            sql.push(" AND u.at >= ").bind(from);
        }
        if let Some(to) = self.query.to {
            sql.push(" AND u.at < ").bind(to);
        }
    }

    async fn best(&self, client: &Client, mut sql: Sql) -> Result<Vec<LineHit>, Error> {
        sql.push(" ORDER BY score DESC, u.at DESC, u.seq DESC").limit(self.query.limit);
        let rows = sql.query(client).await?;
        rows.iter()
            .map(|row| Ok(LineHit { line: line(row)?, score: row.try_get("score")? }))
            .collect()
    }
}

//! Statements built from parts, including the viewer's filter.
//!
//! Entry type: [`Sql`]. **Never**: puts a value into the text of a statement.

use std::fmt::Write;

use deadpool_postgres::GenericClient;
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::{Row, types::ToSql};

use crate::memory::{
    Error, Scope, Viewer, Visibility,
    text::{fold, words},
};

pub(super) struct Sql {
    text: String,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Sql {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: Vec::new() }
    }

    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a placeholder and its value.
    pub(super) fn bind(&mut self, value: impl ToSql + Sync + Send + 'static) -> &mut Self {
        self.values.push(Box::new(value));
        // Writing to a string cannot fail.
        _ = write!(self.text, "${}", self.values.len());
        self
    }

    /// Adds a limit, if any. A literal, so that a cached plan takes it into account.
    pub(super) fn limit(&mut self, limit: usize) -> &mut Self {
        if limit > 0 {
            // Writing to a string cannot fail.
            _ = write!(self.text, " LIMIT {}", i64::try_from(limit).unwrap_or(i64::MAX));
        }
        self
    }

    pub(super) async fn query(&self, client: &impl GenericClient) -> Result<Vec<Row>, Error> {
        let statement = client.prepare_cached(&self.text).await?;
        Ok(client.query(&statement, &self.parameters()).await?)
    }

    pub(super) async fn execute(&self, client: &impl GenericClient) -> Result<u64, Error> {
        let statement = client.prepare_cached(&self.text).await?;
        Ok(client.execute(&statement, &self.parameters()).await?)
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|it| &**it as &(dyn ToSql + Sync)).collect()
    }

    /// `AND`: only lines visible to this viewer. The table is `utterance u`.
    pub(super) fn lines_for(&mut self, viewer: &Viewer) -> &mut Self {
        match viewer {
            Viewer::Dm => self,
            Viewer::Everyone => self.push(" AND u.open"),
            Viewer::Npc { name, .. } => {
                self.push(" AND (u.open AND u.heard @> ").bind(vec![fold_of(name)]);
                self.push(" OR u.told @> ").bind(vec![fold_of(name)]).push(")")
            }
        }
    }

    /// `AND`: only items visible to this viewer; proposed ones only for the game master. The table
    /// is `item i`.
    pub(super) fn items_for(&mut self, viewer: &Viewer) -> &mut Self {
        match viewer {
            Viewer::Dm => self,
            Viewer::Everyone => self.push(" AND i.status = 'accepted' AND i.open"),
            Viewer::Npc { name, .. } => {
                self.push(" AND i.status = 'accepted' AND (i.told @> ").bind(vec![fold_of(name)]);
                self.push(" OR i.open AND (i.session IS NULL OR i.heard @> ");
                self.bind(vec![fold_of(name)]).push("))")
            }
        }
    }

    /// `AND`: only entities visible to this viewer. `table`: alias of `entity`.
    pub(super) fn entities_for(&mut self, table: &str, viewer: &Viewer) -> &mut Self {
        match viewer {
            Viewer::Dm => self,
            Viewer::Everyone => self.push(&format!(" AND {table}.open")),
            Viewer::Npc { name, knows } => {
                let knows = folded(knows);
                self.push(&format!(" AND ({table}.told @> "))
                    .bind(vec![fold_of(name)])
                    .push(&format!(
                        " OR {table}.open AND ({table}.knows = '{{}}' OR {table}.knows && "
                    ))
                    .bind(knows)
                    .push("))")
            }
        }
    }

    /// `AND`: only relations visible to this viewer, among those with visible ends. The table is
    /// `relation r`.
    pub(super) fn relations_for(&mut self, viewer: &Viewer) -> &mut Self {
        match viewer {
            Viewer::Dm => self,
            Viewer::Everyone => self.push(" AND r.open"),
            Viewer::Npc { name, .. } => {
                self.push(" AND (r.open OR r.told @> ").bind(vec![fold_of(name)]).push(")")
            }
        }
    }
}

/// Columns of a visibility: true if for everyone, otherwise the folded names of NPCs that may see
/// it.
pub(super) fn told(visibility: &Visibility) -> (bool, Vec<String>) {
    match visibility {
        Visibility::Everyone => (true, Vec::new()),
        Visibility::Dm => (false, Vec::new()),
        Visibility::Npcs(names) => (false, folded(names)),
    }
}

/// `text` without case and accents.
pub(super) fn fold_of(text: &str) -> String {
    plain(&fold(text))
}

pub(super) fn folded(texts: &[String]) -> Vec<String> {
    texts.iter().map(|it| fold_of(it)).collect()
}

/// `text` without NUL, which PostgreSQL rejects.
pub(super) fn plain(text: &str) -> String {
    text.replace('\0', "")
}

/// The word for a scope in an index; unlike any word of a text.
pub(super) fn scope_word(scope: &Scope) -> String {
    format!("={}", plain(&scope.key()))
}

/// Index words of a text, and its scope.
pub(super) fn lexemes(scope: &Scope, text: &str) -> Vec<String> {
    let mut all: Vec<String> = text.lines().flat_map(split).collect();
    all.push(scope_word(scope));
    all.sort();
    all.dedup();
    all
}

fn split(line: &str) -> Vec<String> {
    let folded = fold(line);
    let parts = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(word).collect()
}

/// Longest word in an index, in characters.
const WORD_MAX: usize = 100;

fn word(word: &str) -> String {
    word.chars().take(WORD_MAX).collect()
}

pub(super) fn asked(text: &str) -> Vec<String> {
    words(text).iter().map(|it| word(it)).collect()
}

/// A `tsquery` that matches any of the words.
pub(super) fn any_of(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|it| lexeme(it)).collect();
    quoted.join(" | ")
}

pub(super) fn lexeme(word: &str) -> String {
    format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"))
}

pub(super) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Asked(format!("no JSON: {error}")))
}

pub(super) fn read<T: DeserializeOwned>(row: &Row, column: usize) -> Result<T, Error> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| Error::Damaged(error.to_string()))
}

/// An enum variant's name in JSON.
pub(super) fn label(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

pub(super) fn number(value: u64) -> Result<i64, Error> {
    i64::try_from(value).map_err(|_| Error::Asked(format!("'{value}' is too large a number")))
}

pub(super) fn count(row: &Row, column: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
}

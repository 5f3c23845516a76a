//! Statements put together from parts, and what the viewer may see as a part of them.
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

/// A statement and its values.
pub(super) struct Sql {
    text: String,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Sql {
    /// A statement that begins so.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: Vec::new() }
    }

    /// Appends `text` to the statement.
    pub(super) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// A value in this place.
    pub(super) fn bind(&mut self, value: impl ToSql + Sync + Send + 'static) -> &mut Self {
        self.values.push(Box::new(value));
        // Writing to a text does not fail.
        _ = write!(self.text, "${}", self.values.len());
        self
    }

    /// A limit, where there is one. It is written out, so that a plan that is kept reckons with it.
    pub(super) fn limit(&mut self, limit: usize) -> &mut Self {
        if limit > 0 {
            // Writing to a text does not fail.
            _ = write!(self.text, " LIMIT {}", i64::try_from(limit).unwrap_or(i64::MAX));
        }
        self
    }

    /// Rows of its result.
    pub(super) async fn query(&self, client: &impl GenericClient) -> Result<Vec<Row>, Error> {
        let statement = client.prepare_cached(&self.text).await?;
        Ok(client.query(&statement, &self.parameters()).await?)
    }

    /// Runs it; returns the number of rows it changed.
    pub(super) async fn execute(&self, client: &impl GenericClient) -> Result<u64, Error> {
        let statement = client.prepare_cached(&self.text).await?;
        Ok(client.execute(&statement, &self.parameters()).await?)
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|it| &**it as &(dyn ToSql + Sync)).collect()
    }

    /// `AND`: only lines this viewer may see. The table is `utterance u`.
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

    /// `AND`: only items this viewer may see, proposed ones being the game master's. The table is
    /// `item i`.
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

    /// `AND`: only entities this viewer may see. The table is `entity` under the name `table`.
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

    /// `AND`: only relations this viewer may see, of those whose ends it may. The table is
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

/// Columns of a visibility: a flag that is set if it is for everyone, and the folded names of the NPCs it
/// is for otherwise.
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

/// All of them without case and accents.
pub(super) fn folded(texts: &[String]) -> Vec<String> {
    texts.iter().map(|it| fold_of(it)).collect()
}

/// `text` as PostgreSQL takes it: without the character NUL.
pub(super) fn plain(text: &str) -> String {
    text.replace('\0', "")
}

/// The word under which an index knows a scope; no word of a text looks like it.
pub(super) fn scope_word(scope: &Scope) -> String {
    format!("={}", plain(&scope.key()))
}

/// The words of a text to be found by, and its scope.
pub(super) fn lexemes(scope: &Scope, text: &str) -> Vec<String> {
    let mut all: Vec<String> = text.lines().flat_map(split).collect();
    all.push(scope_word(scope));
    all.sort();
    all.dedup();
    all
}

/// Words of one line, however many.
fn split(line: &str) -> Vec<String> {
    let folded = fold(line);
    let parts = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(word).collect()
}

/// The longest word an index is given, in characters.
const WORD_MAX: usize = 100;

/// A word as an index has it.
fn word(word: &str) -> String {
    word.chars().take(WORD_MAX).collect()
}

/// The words of a question, as an index has them.
pub(super) fn asked(text: &str) -> Vec<String> {
    words(text).iter().map(|it| word(it)).collect()
}

/// Words as a `tsquery`, of which one suffices.
pub(super) fn any_of(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|it| lexeme(it)).collect();
    quoted.join(" | ")
}

/// A word as a `tsquery`.
pub(super) fn lexeme(word: &str) -> String {
    format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"))
}

/// Something as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Asked(format!("no JSON: {error}")))
}

/// Value of the JSON in a column.
pub(super) fn read<T: DeserializeOwned>(row: &Row, column: usize) -> Result<T, Error> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| Error::Damaged(error.to_string()))
}

/// The word an enum without content has in JSON.
pub(super) fn label(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

/// A number as a column has it.
pub(super) fn number(value: u64) -> Result<i64, Error> {
    i64::try_from(value).map_err(|_| Error::Asked(format!("'{value}' is too large a number")))
}

/// A number of a column.
pub(super) fn count(row: &Row, column: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
}

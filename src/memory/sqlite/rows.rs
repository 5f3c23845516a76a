//! Conversions of rows.
//!
//! Entry functions: [`line()`], [`seen_by`], [`Eyes`].

use rusqlite::{Row, types::Type};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::super::{
    Asked, Entity, Error, Item, Provenance, Relation, RelationKey, TranscriptLine, Uid, Utterance,
    Viewer, Visibility, text::fold,
};

/// Separator of names in one column.
const BETWEEN: char = '\u{1f}';

/// Columns for [`line()`], of `line l`, `session s` and `presence p`.
pub const LINE: &str = "l.seq, l.uid, s.key, l.turn, l.at, l.duration, l.speaker_id, l.speaker, \
                        l.character, l.npc, l.text, l.raw, p.members, l.outcome, l.tools, \
                        l.visibility, l.gone, l.asker, l.asked_at";

pub const LINE_FROM: &str = "line l JOIN session s ON s.id = l.session \
                             JOIN presence p ON p.id = l.presence";

pub fn line(row: &Row<'_>) -> rusqlite::Result<TranscriptLine> {
    let tools: Option<String> = row.get(14)?;
    let asked: (Option<String>, Option<i64>) = (row.get(17)?, row.get(18)?);
    Ok(TranscriptLine {
        seq: row.get(0)?,
        said: Utterance {
            uid: Uid(row.get(1)?),
            session: row.get(2)?,
            turn: row.get(3)?,
            at: row.get(4)?,
            duration: row.get(5)?,
            speaker_id: row.get(6)?,
            speaker: row.get(7)?,
            character: row.get(8)?,
            npc: row.get(9)?,
            text: row.get(10)?,
            raw: row.get(11)?,
            present: parsed(row, 12)?,
            outcome: row.get(13)?,
            tools: tools.map_or(Ok(Value::Null), |text| from_text(14, &text))?,
            visibility: parsed(row, 15)?,
            asked: asked.0.zip(asked.1).map(|(by, at)| Asked { by, at }),
        },
        withdrawn: row.get(16)?,
    })
}

pub fn parsed<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    from_text(column, &row.get::<_, String>(column)?)
}

fn from_text<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

pub fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Failed(error.to_string()))
}

pub fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let value = Value::String(row.get(column)?);
    serde_json::from_value(value).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

pub fn name_of(variant: &impl Serialize) -> Result<String, Error> {
    Ok(json(variant)?.trim_matches('"').to_owned())
}

pub fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut all = String::new();
    for name in names {
        all.push_str(&named(name));
    }
    all
}

pub fn named(name: &str) -> String {
    let mut name = match fold(name) {
        // Two marks side by side would be found between any two names.
        folded if folded.is_empty() => name.to_lowercase(),
        folded => folded,
    };
    name.retain(|c| c != BETWEEN);
    format!("{BETWEEN}{name}{BETWEEN}")
}

pub fn seen_by(visibility: &Visibility) -> String {
    match visibility {
        Visibility::Everyone => "*".to_owned(),
        Visibility::Dm => String::new(),
        Visibility::Npcs(all) => names(all.iter().map(String::as_str)),
    }
}

/// A viewer as queries use it, as parameters 1 and 2.
pub struct Eyes {
    kind: Kind,
    /// Parameter 1: its folded name, between marks.
    pub name: String,
    /// Parameter 2: its topics, folded: a JSON array.
    pub knows: String,
}

enum Kind {
    Dm,
    Everyone,
    Npc,
}

fn none() -> String {
    "[]".to_owned()
}

/// Folded topics as a JSON array.
pub fn topics(topics: &[String]) -> String {
    Value::from(topics.iter().map(|topic| fold(topic)).collect::<Vec<_>>()).to_string()
}

impl From<&Viewer> for Eyes {
    fn from(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Dm => Self { kind: Kind::Dm, name: String::new(), knows: none() },
            Viewer::Everyone => Self { kind: Kind::Everyone, name: String::new(), knows: none() },
            Viewer::Npc { name, knows } => {
                Self { kind: Kind::Npc, name: named(name), knows: topics(knows) }
            }
        }
    }
}

impl Eyes {
    /// True if it sees the whole graph.
    pub const fn sees_all(&self) -> bool {
        matches!(self.kind, Kind::Dm)
    }

    /// Condition on `line l`.
    pub const fn line(&self) -> &'static str {
        match self.kind {
            Kind::Dm => "1",
            Kind::Everyone => "l.seen_by = '*'",
            Kind::Npc => {
                "(instr(l.seen_by, ?1) > 0 OR l.seen_by = '*' AND EXISTS (SELECT 1 FROM present_npc n \
                 WHERE n.name = ?1 AND n.presence = l.presence))"
            }
        }
    }

    /// Condition on `item i`, beside [`Self::counting`].
    pub const fn item(&self) -> &'static str {
        match self.kind {
            Kind::Dm => "1",
            Kind::Everyone => "i.seen_by = '*'",
            Kind::Npc => {
                "(instr(i.seen_by, ?1) > 0 OR i.seen_by = '*' AND (i.session IS NULL OR EXISTS \
                 (SELECT 1 FROM witness w WHERE w.item = i.id AND w.name = ?1)))"
            }
        }
    }

    /// Condition on the status of `item i` in searches.
    pub const fn counting(&self) -> &'static str {
        match self.kind {
            Kind::Dm => "i.status <> 'rejected'",
            Kind::Everyone | Kind::Npc => "i.status = 'accepted'",
        }
    }

    /// Condition on a table `e` of entities.
    pub fn entity(&self, e: &str) -> String {
        match self.kind {
            Kind::Dm => "1".to_owned(),
            Kind::Everyone => format!("{e}.seen_by = '*'"),
            Kind::Npc => format!(
                "(instr({e}.seen_by, ?1) > 0 OR {e}.seen_by = '*' AND ({e}.topics = '[]' OR EXISTS \
                 (SELECT 1 FROM json_each({e}.topics) t JOIN json_each(?2) k ON k.value = t.value)))"
            ),
        }
    }

    /// Condition on `relation r`.
    pub const fn relation(&self) -> &'static str {
        match self.kind {
            Kind::Dm => "1",
            Kind::Everyone => "r.seen_by = '*'",
            Kind::Npc => "(r.seen_by = '*' OR instr(r.seen_by, ?1) > 0)",
        }
    }
}

/// Columns for [`item`], of `item i` and `session s`.
pub const ITEM: &str = "i.key, i.kind, i.text, s.key, i.first, i.last, i.visibility, i.status, \
                        i.made";

pub fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    let (first, last): (Option<u64>, Option<u64>) = (row.get(4)?, row.get(5)?);
    Ok(Item {
        id: row.get(0)?,
        kind: word(row, 1)?,
        text: row.get(2)?,
        session: row.get(3)?,
        lines: first.zip(last),
        visibility: parsed(row, 6)?,
        status: word(row, 7)?,
        made: row.get(8)?,
    })
}

pub fn entity_of(e: &str) -> String {
    [
        "key",
        "kind",
        "name",
        "aliases",
        "description",
        "attributes",
        "tags",
        "knowledge",
        "visibility",
        "source",
    ]
    .map(|column| format!("{e}.{column}"))
    .join(", ")
}

pub fn entity(row: &Row<'_>, column: usize) -> rusqlite::Result<Entity> {
    Ok(Entity {
        id: row.get(column)?,
        kind: word(row, column + 1)?,
        name: row.get(column + 2)?,
        aliases: parsed(row, column + 3)?,
        description: row.get(column + 4)?,
        attributes: parsed(row, column + 5)?,
        tags: parsed(row, column + 6)?,
        knowledge: parsed(row, column + 7)?,
        visibility: parsed(row, column + 8)?,
        source: row.get(column + 9)?,
    })
}

/// Columns for [`relation`], of `relation r` and its ends `a` and `b`.
pub const RELATION: &str = "a.key, r.kind, b.key, r.attributes, r.visibility, r.session, \
                            r.utterance, r.origin, r.confidence";

pub const RELATION_COLUMNS: usize = 9;

pub fn relation(row: &Row<'_>) -> rusqlite::Result<Relation> {
    Ok(Relation {
        key: RelationKey { from: row.get(0)?, kind: row.get(1)?, to: row.get(2)? },
        attributes: parsed(row, 3)?,
        visibility: parsed(row, 4)?,
        provenance: Provenance {
            session: row.get(5)?,
            utterance: row.get::<_, Option<String>>(6)?.map(Uid),
            origin: word(row, 7)?,
            confidence: row.get(8)?,
        },
    })
}

/// A limit in SQL: -1 means none.
pub fn limit(limit: usize) -> i64 {
    if limit == 0 { -1 } else { i64::try_from(limit).unwrap_or(i64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_without_letters_is_found_as_itself() {
        let seen = |all: &[&str]| {
            seen_by(&Visibility::Npcs(all.iter().map(|it| (*it).to_owned()).collect()))
        };
        assert!(!seen(&["Luna", "Bartok"]).contains(&named("👻")));
        assert!(seen(&["Luna", "👻"]).contains(&named("👻")));
    }
}

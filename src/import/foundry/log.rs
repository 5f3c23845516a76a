//! Databases of Foundry VTT before version 11 (NeDB): a log of documents, one a line, whose later lines
//! replace or remove earlier ones.
//!
//! Entry function: [`superseded`].

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

/// Members of a line that tell which document it stores or removes.
#[derive(Deserialize)]
struct LogLine {
    /// Key of an unpacked pack, which says the kind of document too.
    #[serde(rename = "_key")]
    key: Option<Value>,
    #[serde(rename = "_id")]
    id: Option<Value>,
    #[serde(rename = "$$deleted")]
    deleted: Option<Value>,
    #[serde(rename = "$$indexCreated")]
    created: Option<Value>,
    #[serde(rename = "$$indexRemoved")]
    removed: Option<Value>,
}

/// Indices of the lines of `text` to skip: documents replaced or removed later, and records that are no
/// documents.
pub fn superseded(text: &str) -> BTreeSet<usize> {
    let mut newest: BTreeMap<String, usize> = BTreeMap::new();
    let mut former = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let Ok(line) = serde_json::from_str::<LogLine>(line) else { continue };
        let is_removal = line.deleted == Some(Value::Bool(true));
        if is_removal || line.created.is_some() || line.removed.is_some() {
            former.insert(index);
        }
        let text = |value: Option<Value>| Some(value?.as_str()?.to_owned());
        let Some(id) = text(line.key).or_else(|| text(line.id)) else { continue };
        former.extend(newest.insert(id, index));
    }
    former
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_lines_replace_and_remove() {
        let text = "{\"_id\": \"a\", \"name\": \"Old\"}\r\n{\"_id\": \"b\"}\n\nnot JSON\n\
                    {\"_id\": \"a\", \"name\": \"New\"}\n{\"$$deleted\": true, \"_id\": \"b\"}\n\
                    {\"$$indexCreated\": {\"fieldName\": \"_id\"}}\n{\"name\": 1}\n{\"_id\": 7}\n{\"_id\": 7}";
        assert_eq!(superseded(text), BTreeSet::from([0, 1, 5, 6]));
        let again = "{\"_id\": \"a\"}\n{\"$$deleted\": true, \"_id\": \"a\"}\n{\"_id\": \"a\"}";
        assert_eq!(superseded(again), BTreeSet::from([0, 1]));
        let parts =
            "{\"_id\": \"a\", \"_key\": \"!actors!a\"}\n{\"_id\": \"a\", \"_key\": \"!journal!a\"}";
        assert!(superseded(parts).is_empty());
    }
}

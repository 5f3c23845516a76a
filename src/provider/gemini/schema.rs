//! Reduces JSON Schemas of arguments to supported keywords: one unknown keyword makes the service
//! refuse the whole setup.
//!
//! Entry function: [`reduced`]. **Never**: makes a schema stricter.

use serde_json::{Map, Value, json};

const KEPT: [&str; 14] = [
    "$id",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "required",
    "propertyOrdering",
];
/// Keywords that hold a schema.
const SCHEMAS: [&str; 2] = ["items", "additionalProperties"];
/// Keywords that hold a list of schemas.
const LISTS: [&str; 3] = ["prefixItems", "anyOf", "oneOf"];
/// Keywords that hold schemas by name.
const NAMED: [&str; 2] = ["properties", "$defs"];

/// `schema` without unsupported keywords. A schema that is no object accepts everything.
pub fn reduced(schema: &Value) -> Value {
    // `true`, or `false` under `additionalProperties`.
    let Value::Object(members) = schema else { return schema.clone() };
    let mut kept = Map::new();
    for (word, value) in members {
        let word = word.as_str();
        let value = match (word, value) {
            ("const", value) => {
                kept.insert("enum".to_owned(), json!([value]));
                continue;
            }
            (word, _) if KEPT.contains(&word) => value.clone(),
            (word, _) if SCHEMAS.contains(&word) => reduced(value),
            (word, Value::Array(all)) if LISTS.contains(&word) => all.iter().map(reduced).collect(),
            (word, Value::Object(all)) if NAMED.contains(&word) => {
                let all = all.iter().map(|(name, it)| (name.clone(), reduced(it)));
                Value::Object(all.collect())
            }
            _ => continue,
        };
        kept.insert(word.to_owned(), value);
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_dropped_at_any_depth() {
        let schema = json!({"$schema": "x", "type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9,
                "default": 2}, "pattern": {"type": "string", "pattern": "^a"}},
            "additionalProperties": false, "allOf": [{"title": "x"}]});
        let wanted = json!({"type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer", "minimum": 1}, "pattern": {"type": "string"}},
            "additionalProperties": false});
        assert_eq!(reduced(&schema), wanted);
    }

    #[test]
    fn schemas_in_lists_are_reduced() {
        let schema = json!({"anyOf": [{"const": 1}, {"items": {"type": "string", "examples": []}}],
            "$defs": {"a": {"not": {}, "type": "null"}}});
        let wanted = json!({"anyOf": [{"enum": [1]}, {"items": {"type": "string"}}],
            "$defs": {"a": {"type": "null"}}});
        assert_eq!(reduced(&schema), wanted);
    }
}

//! JSON Schemas of the files, made from the tables that read them.

use serde_json::{Map, Value, json};

use super::keys;
use crate::import::{RULES, campaign};
use crate::yaml::{Key, Kind, Shape};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaKind {
    Config,
    Npc,
    Campaign,
    Rules,
    Tool,
    /// `music.yaml`.
    Music,
    Workflow,
}

/// The JSON Schema (draft 2020-12) of a kind of file.
pub fn schema(kind: SchemaKind) -> Value {
    let shape = match kind {
        SchemaKind::Config => &keys::app::FILE,
        SchemaKind::Npc => {
            return with_draft(object(json!({
                "anyOf": [of_shape(&keys::npc::NPC), of_shape(&keys::npc::NPCS)],
            })));
        }
        SchemaKind::Campaign => &campaign::FILE,
        SchemaKind::Rules => &RULES,
        SchemaKind::Tool => &keys::manifest::FILE,
        SchemaKind::Music => &keys::music::FILE,
        SchemaKind::Workflow => &keys::workflow::FILE,
    };
    schema_of(shape)
}

pub fn schema_of(shape: &Shape) -> Value {
    with_draft(of_shape(shape))
}

/// Adds the draft.
fn with_draft(schema: Map<String, Value>) -> Value {
    let mut whole = Map::new();
    whole.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.extend(schema);
    Value::Object(whole)
}

fn of_shape(shape: &Shape) -> Map<String, Value> {
    let names = |key: &'static Key| [key.name].into_iter().chain(key.also.iter().copied());
    let named = |key| names(key).map(move |name| (name.to_owned(), of_key(key)));
    let properties: Map<_, _> = shape.keys.iter().flat_map(named).collect();
    let required: Vec<_> =
        shape.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema = object(json!({
        "title": shape.title,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    }));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema
}

/// An optional key may be empty too.
fn of_key(key: &Key) -> Value {
    let mut schema = object(json!({ "description": key.doc }));
    let kind = of_kind(&key.kind);
    if key.required || matches!(key.kind, Kind::Any) {
        schema.extend(kind);
    } else {
        schema.insert("anyOf".into(), json!([kind, { "type": "null" }]));
    }
    Value::Object(schema)
}

/// Any scalar may also be a variable.
fn of_kind(kind: &Kind) -> Map<String, Value> {
    const VARIABLE: &str = r"\$\{";
    object(match kind {
        Kind::Text => json!({ "type": ["string", "number"] }),
        Kind::Filled => json!({ "type": ["string", "number"], "pattern": r"\S" }),
        Kind::Flag => json!({ "type": ["boolean", "string"], "pattern": VARIABLE }),
        Kind::Whole { min, max } => json!({
            "type": ["integer", "string"], "minimum": min, "maximum": max, "pattern": VARIABLE,
        }),
        Kind::Number { min, max } => json!({
            "type": ["number", "string"], "minimum": min, "maximum": max, "pattern": VARIABLE,
        }),
        Kind::Word(words) => json!({
            "anyOf": [{ "enum": words }, { "type": "string", "pattern": VARIABLE }],
        }),
        Kind::List(item) => json!({ "type": "array", "items": of_kind(item) }),
        Kind::Shape(shape) => return of_shape(shape),
        Kind::Names(value) => json!({ "type": "object", "additionalProperties": of_kind(value) }),
        Kind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(of_kind).collect::<Vec<_>>() })
        }
        Kind::Any => json!({}),
    })
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

//! Parts of the definitions of built-in tools.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::{domain::Tier, tools::Declared};

pub fn input(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub fn text<'a>(arguments: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    arguments.get(key).and_then(Value::as_str)
}

/// Durations of a built-in's calls in ms: shown to models, and used for its tier until it is
/// measured.
#[derive(Clone, Copy)]
pub struct Millis {
    pub estimated: u64,
    pub max: u64,
}

pub fn declared(category: &str, takes: Millis, floor: Tier) -> Declared {
    Declared {
        estimated: Some(Duration::from_millis(takes.estimated)),
        max: Some(Duration::from_millis(takes.max)),
        floor: Some(floor),
        categories: vec![category.to_owned()],
        ..Declared::default()
    }
}

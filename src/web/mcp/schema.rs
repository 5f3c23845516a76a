//! JSON Schemas of tools, in short. Entry functions: [`object`], [`of_list`].

use serde_json::{Value, json};

/// Longest name, id or time, in characters.
const NAME_MAX: u32 = 200;

/// Arguments: no members but these.
pub fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A result; later versions may add members.
pub fn result(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A result with a list of objects under `name`.
pub fn of_list(name: &str, properties: &Value, required: &[&str]) -> Value {
    let list = json!({ "type": "array", "items": result(properties, required) });
    let mut members = serde_json::Map::new();
    members.insert(name.to_owned(), list);
    result(&Value::Object(members), &[name])
}

/// Text of up to `longest` characters that is not empty.
pub fn text(description: &str, longest: u32) -> Value {
    json!({
        "type": "string", "description": description, "minLength": 1, "maxLength": longest,
    })
}

/// A name, an id or a time.
pub fn name(description: &str) -> Value {
    text(description, NAME_MAX)
}

pub fn flag(description: &str, default: bool) -> Value {
    json!({ "type": "boolean", "description": description, "default": default })
}

/// A whole number of 1 to `most`.
pub fn count(description: &str, most: u32, default: u32) -> Value {
    json!({
        "type": "integer", "description": description,
        "minimum": 1, "maximum": most, "default": default,
    })
}

/// Text in a result.
pub fn string() -> Value {
    json!({ "type": "string" })
}

/// Text in a result, or null.
pub fn maybe_string() -> Value {
    json!({ "type": ["string", "null"] })
}

pub fn strings() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

pub fn boolean() -> Value {
    json!({ "type": "boolean" })
}

pub fn integer() -> Value {
    json!({ "type": "integer" })
}

pub fn number() -> Value {
    json!({ "type": "number" })
}

//! JSON Schemas of tools: what models read, and what arguments and results are checked against.
//!
//! Entry type: [`Schema`]. **Never**: fetches a reference.

use std::sync::Arc;

use jsonschema::{
    JsonType, ValidationError, Validator, error::TypeKind, error::ValidationErrorKind,
};
use serde_json::{Map, Number, Value, json};

/// Most problems reported at once; more would bury the first.
const TOLD: usize = 3;
/// Longest excerpt of a value in a message, in characters.
const SHOWN: usize = 60;

/// Why a schema cannot be used for a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON Schema, in the compiler's own words.
    #[error("{0}")]
    Broken(String),
    /// No model can be given parameters that are no object.
    #[error("its input schema is no object")]
    NoObject,
    /// It asks for values of this type (JSON) where an object is needed.
    #[error("its input schema is of type {0}, not an object")]
    OtherType(String),
}

/// How a value differs from what a schema asks for, in words for a model: what is wrong, where, and
/// what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(String);

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
}

impl Schema {
    /// Compiles `schema`; references to other documents are not followed.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::validator_for(schema)
            .map_err(|error| SchemaError::Broken(error.to_string()))?;
        Ok(Self { validator })
    }

    /// Checks `value`, after turning strings into the numbers and booleans the schema asks for.
    ///
    /// # Errors
    /// What was wrong, where, and what was expected, for the model.
    pub fn check(&self, mut value: Value) -> Result<Value, Mismatch> {
        // One pass converts all strings of one depth; a second one catches what that has uncovered.
        for _ in 0..2 {
            if self.validator.is_valid(&value) {
                return Ok(value);
            }
            let mended: Vec<(String, Value)> =
                self.validator.iter_errors(&value).filter_map(|error| coerced(&error)).collect();
            for (pointer, better) in mended {
                if let Some(place) = value.pointer_mut(&pointer) {
                    *place = better;
                }
            }
        }
        if self.validator.is_valid(&value) {
            return Ok(value);
        }
        let told: Vec<String> = self.validator.iter_errors(&value).take(TOLD).map(told).collect();
        Err(Mismatch(told.join("; ")))
    }
}

/// The value a string stands for, where the schema wants a number or a boolean.
fn coerced(error: &ValidationError<'_>) -> Option<(String, Value)> {
    let ValidationErrorKind::Type { kind } = error.kind() else { return None };
    let Value::String(text) = error.instance().as_ref() else { return None };
    let wants = |wanted| match kind {
        TypeKind::Single(only) => *only == wanted,
        TypeKind::Multiple(several) => several.contains(wanted),
    };
    let text = text.trim();
    let better = match text {
        "true" | "True" if wants(JsonType::Boolean) => Value::Bool(true),
        "false" | "False" if wants(JsonType::Boolean) => Value::Bool(false),
        _ if wants(JsonType::Integer) || wants(JsonType::Number) => number(text)?,
        _ => return None,
    };
    Some((error.instance_path().as_str().to_owned(), better))
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}

/// One problem in words.
fn told(error: ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { String::new() } else { format!("at '{place}': ") };
    let text = error.to_string();
    if text.len() <= SHOWN * 4 {
        return format!("{place}{text}");
    }
    let shown: String = error.instance().to_string().chars().take(SHOWN).collect();
    format!("{place}{shown}… {}", error.masked())
}

/// The parameters a model is given: an object schema without members that confuse services.
///
/// # Errors
/// Why no service takes it.
pub fn for_model(schema: &Value) -> Result<Arc<Value>, SchemaError> {
    let Value::Object(members) = schema else {
        return Err(SchemaError::NoObject);
    };
    let mut members: Map<String, Value> = members.clone();
    match members.get("type") {
        None => _ = members.insert("type".to_owned(), json!("object")),
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => return Err(SchemaError::OtherType(other.to_string())),
    }
    for dropped in ["$schema", "$id", "_metadata", "title"] {
        members.remove(dropped);
    }
    members.entry("properties").or_insert_with(|| json!({}));
    Ok(Arc::new(Value::Object(members)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(schema: Value) -> Schema {
        Schema::new(&schema).expect("a schema")
    }

    #[test]
    fn strings_become_the_numbers_and_booleans_that_are_wanted() {
        let schema = schema(json!({"type": "object", "properties": {
            "n": {"type": "integer"}, "x": {"type": ["number", "null"]}, "b": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "number"}}, "s": {"type": "string"},
        }}));
        let checked = schema.check(json!({
            "n": "3", "x": "2.5", "b": "true", "list": ["1", 2], "s": "7",
        }));
        let expected = json!({"n": 3, "x": 2.5, "b": true, "list": [1, 2], "s": "7"});
        assert_eq!(checked, Ok(expected));
    }

    #[test]
    fn what_is_wrong_where_and_what_was_expected() {
        let schema = schema(json!({
            "type": "object", "required": ["city"], "additionalProperties": false,
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
        }));
        let wrong =
            schema.check(json!({"days": "nine", "town": 1})).expect_err("wrong").to_string();
        for part in ["at '/days'", "\"nine\" is not of type \"integer\"", "town", "city"] {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
        let wrong =
            schema.check(json!({"city": "x", "days": 99})).expect_err("too many").to_string();
        assert_eq!(wrong, "at '/days': 99 is greater than the maximum of 7");
    }

    #[test]
    fn a_huge_value_is_not_told_whole() {
        let schema = schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
        let wrong = schema.check(json!({"n": "x".repeat(100_000)})).expect_err("wrong").to_string();
        assert!(wrong.len() < 300, "{}", wrong.len());
    }

    #[test]
    fn references_elsewhere_are_refused_not_fetched() {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "http://x.test/a"}}});
        assert!(Schema::new(&schema).is_err());
    }

    #[test]
    fn a_model_gets_an_object_schema_or_nothing() {
        let cleaned = for_model(&json!({"$schema": "s", "_metadata": {}, "required": []}));
        let expected = json!({"required": [], "type": "object", "properties": {}});
        assert_eq!(cleaned.as_deref(), Ok(&expected));
        for hopeless in [json!(true), json!({"type": "array"}), json!({"type": ["object", "null"]})]
        {
            assert!(for_model(&hopeless).is_err(), "{hopeless}");
        }
    }
}

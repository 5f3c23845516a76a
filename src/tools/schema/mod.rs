//! JSON Schemas of tools: parameters for models, and checks of arguments and results.
//! Schemas and values are foreign: both are weighed first (`bounds.rs`), and expensive work runs on
//! a thread of its own (`apart.rs`). Almost-right arguments are converted (`coerced.rs`).
//! **Never**: fetches a reference, runs a backtracking regular expression.

pub mod apart;
mod bounds;
mod coerced;
mod error;
mod parts;

use std::{sync::Arc, time::Duration};

use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::{Map, Value, json};

pub use self::error::{Mismatch, SchemaError};
use self::{bounds::Weight, coerced::coerced, error::PATTERN_BYTES};
use crate::domain::visible;

/// Most problems in one message.
const TOLD: usize = 3;
/// Longest excerpt of a value in a message, in characters.
const SHOWN: usize = 60;
/// Longest compiler message passed on, in characters.
const COMPILER_SAYS: usize = 300;
/// Longest wait for a check.
const PATIENCE: Duration = Duration::from_millis(50);
/// Most checks run inline: a few milliseconds at worst.
const CHEAP: u64 = 10_000;
/// Deepest check run inline: runtime threads have small stacks.
const SHALLOW: u64 = 256;
/// Above this many checks a value is refused: seconds of work.
const DEAR: u64 = 5_000_000;
/// Above this depth a value is refused: no stack suffices.
const ABYSS: u64 = 16_384;
/// Most checks with explained problems; each problem takes memory.
const EXPLAINED: u64 = 200_000;
/// Larger schemas compile on a thread of their own.
const SMALL: Weight = Weight::SMALL;

#[derive(Clone, Debug)]
pub struct Schema {
    validator: Arc<Validator>,
    weight: Weight,
}

enum Dearness {
    /// On the caller's thread.
    Cheap,
    /// On a thread of its own; `explained`: with messages.
    Dear {
        explained: bool,
    },
    Endless,
}

impl Schema {
    /// Compiles `schema`. Fails if it is invalid or exceeds a bound.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let weight = Weight::of(schema)?;
        let compiled = match weight.is_within(&SMALL) {
            true => compiled(schema),
            false => apart::on_large_stack(|| compiled(schema)).ok_or(SchemaError::NoThread)?,
        };
        Ok(Self { validator: Arc::new(compiled?), weight })
    }

    /// Parts of the schema, as a measure of its memory.
    pub fn parts(&self) -> usize {
        self.weight.parts
    }

    /// Checks `value` after converting strings (see `coerced.rs`). Fails with a message for the
    /// model on a mismatch, an oversized value, or a timeout.
    pub async fn check(&self, value: Value) -> Result<Value, Mismatch> {
        match self.dearness(&value) {
            Dearness::Cheap => checked(&self.validator, value, true),
            Dearness::Endless => Err(too_large()),
            Dearness::Dear { explained } => {
                let validator = Arc::clone(&self.validator);
                let check = move || checked(&validator, value, explained);
                apart::within(PATIENCE, check).await.unwrap_or_else(|| Err(late()))
            }
        }
    }

    /// Like [`Self::check`] without a runtime, for our own files and values.
    pub fn check_here(&self, value: Value) -> Result<Value, Mismatch> {
        match self.dearness(&value) {
            Dearness::Cheap => checked(&self.validator, value, true),
            Dearness::Endless => Err(too_large()),
            Dearness::Dear { explained } => {
                let check = || checked(&self.validator, value, explained);
                apart::on_large_stack(check).unwrap_or_else(|| Err(late()))
            }
        }
    }

    fn dearness(&self, value: &Value) -> Dearness {
        let (checks, depth) = self.weight.cost(value);
        match () {
            () if checks <= CHEAP && depth <= SHALLOW => Dearness::Cheap,
            () if checks > DEAR || depth > ABYSS => Dearness::Endless,
            () => Dearness::Dear { explained: checks <= EXPLAINED },
        }
    }
}

fn too_large() -> Mismatch {
    Mismatch("it is too large and too deep to be checked against its schema".to_owned())
}

fn late() -> Mismatch {
    let what = format!("it could not be checked against its schema in {} ms", PATIENCE.as_millis());
    Mismatch(what)
}

fn compiled(schema: &Value) -> Result<Validator, SchemaError> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    jsonschema::options()
        .with_pattern_options(patterns)
        // `format: regex` would compile the value at unknown cost.
        .with_format("regex", |_: &str| true)
        .build(schema)
        .map_err(|error| broken(&error))
}

fn broken(error: &ValidationError<'_>) -> SchemaError {
    let shown = |text: &str, most| visible(text).chars().take(most).collect::<String>();
    let is_pattern = match error.kind() {
        ValidationErrorKind::Format { format } => format == "regex",
        _ => false,
    };
    match error.instance().as_str() {
        Some(pattern) if is_pattern => SchemaError::Pattern(shown(pattern, SHOWN)),
        _ => SchemaError::Broken(shown(&error.to_string(), COMPILER_SAYS)),
    }
}

/// Checks `value` after converting strings.
fn checked(validator: &Validator, mut value: Value, explained: bool) -> Result<Value, Mismatch> {
    if validator.is_valid(&value) {
        return Ok(value);
    }
    if !explained {
        let what = "it does not fit its schema, and is too large to say where";
        return Err(Mismatch(what.to_owned()));
    }
    // One pass converts strings of one depth; the second those it uncovered.
    for _ in 0..2 {
        let mended: Vec<(String, Value)> =
            validator.iter_errors(&value).filter_map(|error| coerced(&error)).collect();
        for (pointer, better) in mended {
            if let Some(place) = value.pointer_mut(&pointer) {
                *place = better;
            }
        }
        if validator.is_valid(&value) {
            return Ok(value);
        }
    }
    let told: Vec<String> = validator.iter_errors(&value).take(TOLD).map(told).collect();
    Err(Mismatch(told.join("; ")))
}

fn told(error: ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { String::new() } else { format!("at '{place}': ") };
    let text = match error.kind() {
        ValidationErrorKind::Enum { options: Value::Array(options) } => {
            let options: Vec<String> = options.iter().map(Value::to_string).collect();
            format!("{} is not one of {}", error.instance(), options.join(", "))
        }
        _ => error.to_string(),
    };
    if text.len() <= SHOWN * 4 {
        return format!("{place}{text}");
    }
    let shown: String = error.instance().to_string().chars().take(SHOWN).collect();
    format!("{place}{shown}… {}", error.masked())
}

/// The parameters for a model: an object schema without members that confuse services. Fails if the
/// schema or its `type` is not an object.
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
    for (key, value) in &mut members {
        *value = described(key, value.take());
    }
    Ok(Arc::new(Value::Object(members)))
}

/// The value of `key`; text for reading loses invisible characters.
fn described(key: &str, value: Value) -> Value {
    match value {
        Value::String(text) if matches!(key, "description" | "title" | "$comment") => {
            Value::String(visible(&text))
        }
        Value::Object(mut members) => {
            for (key, value) in &mut members {
                *value = described(key, value.take());
            }
            Value::Object(members)
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| described("", item)).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(schema: Value) -> Schema {
        Schema::new(&schema).expect("a schema")
    }

    #[test]
    fn schema_errors_name_place_and_expected_value() {
        let schema = schema(json!({
            "type": "object", "required": ["city"], "additionalProperties": false,
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
        }));
        let wrong =
            schema.check_here(json!({"days": "nine", "town": 1})).expect_err("wrong").to_string();
        for part in ["at '/days'", "\"nine\" is not of type \"integer\"", "town", "city"] {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
        let wrong =
            schema.check_here(json!({"city": "x", "days": 99})).expect_err("too many").to_string();
        assert_eq!(wrong, "at '/days': 99 is greater than the maximum of 7");
        let schema = self::schema(json!({"enum": ["a", "b", "c", "d", "e"]}));
        let wrong = schema.check_here(json!("f")).expect_err("not there").to_string();
        assert_eq!(wrong, r#""f" is not one of "a", "b", "c", "d", "e""#);
    }

    #[test]
    fn huge_value_is_shortened_in_error() {
        let schema = schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
        let wrong =
            schema.check_here(json!({"n": "x".repeat(100_000)})).expect_err("wrong").to_string();
        assert!(wrong.len() < 300, "{}", wrong.len());
    }

    #[test]
    fn references_elsewhere_are_refused_not_fetched() {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "http://x.test/a"}}});
        assert!(Schema::new(&schema).is_err());
    }

    #[test]
    fn model_gets_an_object_schema_or_nothing() {
        let cleaned = for_model(&json!({"$schema": "s", "_metadata": {}, "required": []}));
        let expected = json!({"required": [], "type": "object", "properties": {}});
        assert_eq!(cleaned.as_deref(), Ok(&expected));
        for hopeless in [json!(true), json!({"type": "array"}), json!({"type": ["object", "null"]})]
        {
            assert!(for_model(&hopeless).is_err(), "{hopeless}");
        }
    }
}

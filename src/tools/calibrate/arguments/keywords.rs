//! Values for single keywords of a schema, and the errors of making arguments. **Never**: follows a
//! reference.

use serde_json::{Map, Number, Value};

use crate::tools::schema::{Mismatch, SchemaError};

/// Reason no arguments could be made; its text begins with "it" or "its", meaning the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArguments {
    /// The schema's type (JSON) is not an object.
    #[error("its schema asks for {0} instead of an object")]
    NoObject(String),
    /// It refers to itself, or nests too deeply.
    #[error("its schema nests without end")]
    Endless,
    /// A part is `false`.
    #[error("part of its schema allows nothing")]
    Nothing,
    /// Dangling reference.
    #[error("'{0}' is not in its schema")]
    Reference(String),
    /// `oneOf` or `anyOf` without branches.
    #[error("its '{0}' is empty")]
    NoBranch(String),
    /// No branch could be satisfied.
    #[error("no branch of its '{0}' accepts the values tried")]
    NoFittingBranch(String),
    /// A list longer than the limit.
    #[error("it needs {0} items")]
    Items(u64),
    /// Not enough distinct values for `uniqueItems`.
    #[error("it needs different items")]
    Alike,
    #[error("'{member}': {why}")]
    Member { member: String, why: Box<NoArguments> },
    #[error("it needs {0} members")]
    Members(u64),
    #[error("it needs {0} characters")]
    Characters(u64),
    /// No sample text matches the pattern (JSON).
    #[error("nothing that was tried matches the pattern {0}")]
    Pattern(String),
    /// No number within the bounds.
    #[error("no number fits")]
    Number,
    /// No whole number within the bounds; holds the one tried.
    #[error("no whole number fits ({0})")]
    Whole(String),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// Adds `part` to `whole` as `allOf` does.
pub fn merge(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        let merged = match (key.as_str(), whole.get_mut(&key)) {
            (_, None) => value,
            ("properties" | "$defs" | "definitions", Some(Value::Object(known))) => {
                if let Value::Object(more) = value {
                    merge(known, more);
                }
                continue;
            }
            ("required", Some(Value::Array(known))) => {
                if let Value::Array(more) = value {
                    known.extend(more);
                }
                continue;
            }
            (key, Some(known)) => match stricter(key, known, &value) {
                Some(stricter) => stricter,
                // Two schemas of one member: both apply.
                None => match (known, value) {
                    (Value::Object(known), Value::Object(more)) => {
                        merge(known, more);
                        continue;
                    }
                    (_, value) => value,
                },
            },
        };
        whole.insert(key, merged);
    }
}

/// The tighter of two bounds.
fn stricter(key: &str, one: &Value, other: &Value) -> Option<Value> {
    let (a, b) = (one.as_f64()?, other.as_f64()?);
    let lower = match key {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => false,
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => true,
        _ => return None,
    };
    Some(if (a < b) == lower { one.clone() } else { other.clone() })
}

/// The type of value to make.
pub fn kind(members: &Map<String, Value>) -> &str {
    let told = match members.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            let first = kinds.next();
            if first == Some("null") { kinds.next().or(first) } else { first }
        }
        _ => None,
    };
    let has = |keys: &[&str]| keys.iter().any(|key| members.contains_key(*key));
    told.unwrap_or_else(|| match () {
        () if has(&["properties", "required", "minProperties"]) => "object",
        () if has(&["items", "prefixItems", "minItems"]) => "array",
        () if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) => "number",
        () => "string",
    })
}

/// A number within its bounds: the lower one, else 1, else the upper one.
pub fn number(members: &Map<String, Value>, is_whole: bool) -> Result<Value, NoArguments> {
    let get = |key: &str| members.get(key).and_then(Value::as_f64);
    let step = get("multipleOf").filter(|step| *step > 0.0);
    let grain = step.unwrap_or(1.0);
    let above = get("exclusiveMinimum");
    let below = get("exclusiveMaximum");
    let least = [get("minimum"), above].into_iter().flatten().reduce(f64::max);
    let most = [get("maximum"), below].into_iter().flatten().reduce(f64::min);
    let start = match (least, most) {
        (Some(least), _) => least,
        (None, Some(most)) => most.min(1.0),
        (None, None) => 1.0,
    };
    let mut value = start;
    if is_whole || step.is_some() {
        let grain = if is_whole { grain.max(1.0) } else { grain };
        let times = value / grain;
        let times = if least.is_some() { times.ceil() } else { times.floor() };
        value = times * grain;
        if above.is_some_and(|above| value <= above) {
            value += grain;
        }
        if below.is_some_and(|below| value >= below) {
            value -= grain;
        }
    } else {
        let (low, high) = (least.unwrap_or(value - 2.0), most.unwrap_or(value + 2.0));
        if above.is_some_and(|above| value <= above) || below.is_some_and(|below| value >= below) {
            value = f64::midpoint(low, high);
        }
    }
    if is_whole {
        return json_whole(value);
    }
    Number::from_f64(value).map(Value::Number).ok_or(NoArguments::Number)
}

fn json_whole(value: f64) -> Result<Value, NoArguments> {
    let text = format!("{value:.0}");
    let whole = text.parse::<i64>().map(Value::from);
    let whole = whole.or_else(|_| text.parse::<u64>().map(Value::from));
    whole.map_err(|_| NoArguments::Whole(value.to_string()))
}

pub fn whole(members: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = members.get(key)?;
    value.as_u64().or_else(|| format!("{:.0}", value.as_f64()?).parse().ok())
}

pub fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2024-01-01T00:00:00Z",
        "date" => "2024-01-01",
        "time" => "00:00:00Z",
        "duration" => "PT1S",
        "email" | "idn-email" => "test@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "url" => "https://example.com/",
        "uri-reference" | "iri-reference" => "/",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "json-pointer" => "",
        "regex" => ".",
        _ => return None,
    })
}

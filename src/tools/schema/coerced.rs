//! Converts strings from models into the values a schema wants, if unambiguous.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Number, Value};

/// The number, boolean or enum value meant by a string, and its place.
pub fn coerced(error: &ValidationError<'_>) -> Option<(String, Value)> {
    let Value::String(text) = error.instance().as_ref() else { return None };
    let place = error.instance_path().as_str().to_owned();
    let kind = match error.kind() {
        ValidationErrorKind::Type { kind } => kind,
        ValidationErrorKind::Enum { options } => return Some((place, meant(text, options)?)),
        _ => return None,
    };
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
    Some((place, better))
}

fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))
}

/// The one of `options` spelled like `text`.
fn meant(text: &str, options: &Value) -> Option<Value> {
    let wanted = spelling(text);
    let mut alike = options
        .as_array()?
        .iter()
        .filter(|option| option.as_str().is_some_and(|it| spelling(it) == wanted));
    let only = alike.next()?;
    alike.next().is_none().then(|| only.clone())
}

/// A name without case, apostrophes and separators. Signs and separators between digits count:
/// "1-2" is not "12".
fn spelling(name: &str) -> String {
    let is_between = |c: char| c.is_whitespace() || c == '_' || c == '-';
    let mut plain = String::with_capacity(name.len());
    let mut gap = false;
    for c in name.trim().chars().filter(|c| !matches!(c, '\'' | '’')) {
        if is_between(c) {
            gap = true;
            continue;
        }
        let joins = plain.chars().next_back().is_some_and(char::is_alphabetic) && c.is_alphabetic();
        if std::mem::take(&mut gap) && !joins {
            plain.push('_');
        }
        plain.extend(c.to_lowercase());
    }
    if gap {
        plain.push('_');
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Schema;

    #[test]
    fn strings_are_coerced_to_numbers_and_booleans() {
        let schema = Schema::new(&json!({"type": "object", "properties": {
            "n": {"type": "integer"}, "x": {"type": ["number", "null"]}, "b": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "number"}}, "s": {"type": "string"},
        }}))
        .expect("a schema");
        let checked = schema.check_here(json!({
            "n": "3", "x": "2.5", "b": "true", "list": ["1", 2], "s": "7",
        }));
        let expected = json!({"n": 3, "x": 2.5, "b": true, "list": [1, 2], "s": "7"});
        assert_eq!(checked, Ok(expected));
    }

    #[test]
    fn enum_spelling_is_forgiven_unless_ambiguous() {
        let options = ["wild-magic", "Mira's Finds", "no one", "noone", "level 12", "-1", "+"];
        let schema = Schema::new(&json!({"enum": options})).expect("a schema");
        for (said, meant) in [
            ("Wild Magic", "wild-magic"),
            ("WILDMAGIC", "wild-magic"),
            ("  wild__magic ", "wild-magic"),
            ("miras_finds", "Mira's Finds"),
            ("Level-12", "level 12"),
        ] {
            assert_eq!(schema.check_here(json!(said)), Ok(json!(meant)), "{said}");
        }
        for said in ["wild", "NoOne", "1", "level 1-2", "level 1 2", "-", "", "_"] {
            assert!(schema.check_here(json!(said)).is_err(), "{said}");
        }
    }
}

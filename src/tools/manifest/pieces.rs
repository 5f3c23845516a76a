//! Text with arguments: `/weather/{city}`, or Go's `{{.city}}`. The caller encodes the arguments.

use serde_json::{Map, Value};

use super::error::{MissingArgument, PiecesError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Argument(String),
}

impl Pieces {
    /// Splits `text` at `{name}`, `{{name}}` and `{{.name}}`; single braces around anything else
    /// are text. Doubled ones are an error.
    pub fn parse(text: &str) -> Result<Self, PiecesError> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some((name, after)) = argument(from) {
                parts.push(Piece::Text(std::mem::take(&mut plain)));
                parts.push(Piece::Argument(name.to_owned()));
                rest = after;
            } else if from.starts_with("{{") {
                return Err(PiecesError);
            } else {
                plain.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
        plain.push_str(rest);
        parts.push(Piece::Text(plain));
        Ok(Self(parts))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Argument(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    pub fn holds(&self, chars: &[char]) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(chars)))
    }

    /// Joins the text with arguments mapped by `encode`.
    pub fn fill(
        &self,
        arguments: &Map<String, Value>,
        encode: impl Fn(&str) -> String,
    ) -> Result<String, MissingArgument> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Argument(name) => {
                    let value = arguments.get(name).and_then(plain);
                    let value = value
                        .filter(|it| !it.is_empty())
                        .ok_or_else(|| MissingArgument(name.clone()))?;
                    filled.push_str(&encode(&value));
                }
            }
        }
        Ok(filled)
    }
}

pub fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The argument at the start of `text`, and the rest.
fn argument(text: &str) -> Option<(&str, &str)> {
    let (inside, close) = match text.strip_prefix("{{") {
        Some(inside) => (inside, "}}"),
        None => (text.strip_prefix('{')?, "}"),
    };
    let (name, after) = inside.split_once(close)?;
    let name = name.trim();
    let name = name.strip_prefix('.').unwrap_or(name);
    is_name(name).then_some((name, after))
}

/// True if `name` is a valid argument name.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(text: &str, arguments: &Value) -> Result<String, MissingArgument> {
        let pieces = Pieces::parse(text).expect("a template");
        pieces.fill(arguments.as_object().expect("an object"), |text| format!("<{text}>"))
    }

    #[test]
    fn both_ways_of_writing_are_the_same() {
        let arguments = json!({"city": "Bree", "n": 3, "sure": true});
        for text in ["a/{city}/{n}?{sure}", "a/{{.city}}/{{ n }}?{{ .sure }}"] {
            assert_eq!(fill(text, &arguments).as_deref(), Ok("a/<Bree>/<3>?<true>"), "{text}");
        }
        assert_eq!(fill("{ } {1} {a b} }{", &arguments).as_deref(), Ok("{ } {1} {a b} }{"));
    }

    #[test]
    fn missing_argument_is_named_in_error() {
        let arguments = json!({"empty": "", "list": [1], "none": null});
        for name in ["empty", "list", "none", "absent"] {
            assert_eq!(
                fill(&format!("/{{{name}}}"), &arguments),
                Err(MissingArgument(name.to_owned()))
            );
        }
    }

    #[test]
    fn broken_template_is_no_text() {
        for broken in ["/{{.city}", "/{{city", "/{{if .x}}a{{end}}"] {
            assert!(Pieces::parse(broken).is_err(), "{broken}");
        }
    }
}

//! Inputs of a run, as a person types them. Entry function: [`read`].

use serde_json::{Map, Value};

/// Why typed inputs cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputsError {
    #[error("the inputs are not one JSON object: {0}")]
    Json(String),
    #[error("'{0}' is no input (use NAME=VALUE, NAME=VALUE; or a JSON object)")]
    NoPair(String),
}

/// Reads `NAME=VALUE, NAME=VALUE` or a JSON object; empty text is no input at all. A comma belongs
/// to the value before it unless `NAME=` follows.
pub fn read(text: &str) -> Result<Value, InputsError> {
    let text = text.trim();
    if text.starts_with('{') {
        let read: Result<Map<String, Value>, _> = serde_json::from_str(text);
        return read.map(Value::Object).map_err(|error| InputsError::Json(error.to_string()));
    }
    let mut pairs: Vec<(String, String)> = Vec::new();
    for piece in text.split(',').filter(|_| !text.is_empty()) {
        let pair = piece.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        match (pair.filter(|(name, _)| is_name(name)), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(piece);
            }
            (None, None) => return Err(InputsError::NoPair(piece.trim().to_owned())),
        }
    }
    let pairs = pairs.into_iter().map(|(name, value)| (name, Value::String(value)));
    Ok(Value::Object(pairs.collect()))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn typed_inputs_are_pairs_or_json() {
        let read = |text: &str| read(text).map_err(|error| error.to_string());
        assert_eq!(read(" "), Ok(json!({})));
        assert_eq!(
            read("place=Old Mill, tone = dark"),
            Ok(json!({"place": "Old Mill", "tone": "dark"}))
        );
        assert_eq!(read("text=Halt, who goes there"), Ok(json!({"text": "Halt, who goes there"})));
        assert_eq!(read(r#"{"count": 3}"#), Ok(json!({"count": 3})));
        assert!(read("Old Mill").is_err() && read("{").is_err() && read("[1]").is_err());
    }
}

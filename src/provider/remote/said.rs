//! A service's description of a failure, in whatever shape.
//!
//! Entry type: [`ServiceError`]. Unknown, missing and mistyped members count as absent.

use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceError {
    pub message: String,
    pub labels: Vec<String>,
    pub param: Option<String>,
    /// A status in the body, for errors that come with HTTP 200.
    pub status: Option<u16>,
}

impl ServiceError {
    /// Reads `{"error": …}`, the same in an array, FastAPI's `detail`, or a bare object of kind
    /// "error".
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) => items.iter().find_map(Self::read),
            Value::Object(members) => match members.get("error") {
                Some(Value::Null) | None => Self::read_bare(value),
                Some(inner) => Some(Self::describe(inner)),
            },
            _ => None,
        }
    }

    fn read_bare(value: &Value) -> Option<Self> {
        if let Some(detail) = value.get("detail").filter(|_| value.get("choices").is_none()) {
            return Some(Self::describe(detail));
        }
        (value.get("object").and_then(Value::as_str) == Some("error"))
            .then(|| Self::describe(value))
    }

    fn describe(inner: &Value) -> Self {
        let message = match inner {
            Value::String(text) => text.clone(),
            Value::Object(members) => match members.get("message") {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(parts)) => parts.iter().filter_map(part).collect(),
                Some(_) => String::new(),
                None => inner.to_string(),
            },
            other => other.to_string(),
        };
        let mut labels: Vec<String> =
            ["type", "code", "status"].iter().filter_map(|key| label(inner, key)).collect();
        match inner.get("details") {
            Some(Value::Array(details)) => {
                labels.extend(details.iter().filter_map(|detail| label(detail, "reason")));
            }
            Some(details) => labels.extend(label(details, "error_code")),
            None => {}
        }
        let status = labels.iter().filter_map(|label| label.parse().ok());
        let status = status.into_iter().find(|status| (400..600).contains(status));
        Self { message, param: string(inner, "param"), status, labels }
    }
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn label(value: &Value, key: &str) -> Option<String> {
    match value.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

/// Text of one part, where a message is a list of parts.
fn part(part: &Value) -> Option<&str> {
    part.get("text").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_every_shape_are_read() {
        let read = |value: Value| ServiceError::read(&value).expect("an error");
        let plain =
            read(json!({"error": {"message": "no", "type": "t", "code": "c", "param": "p"}}));
        assert_eq!(plain.labels, ["t", "c"]);
        assert_eq!(plain.param.as_deref(), Some("p"));
        assert_eq!(read(json!({"error": {"message": "busy", "code": 502}})).status, Some(502));
        assert_eq!(read(json!({"error": "model not found"})).message, "model not found");
        let gemini = read(json!([{"error": {"code": 400, "message": "bad key",
            "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]));
        assert_eq!(gemini.labels, ["400", "INVALID_ARGUMENT", "API_KEY_INVALID"]);
        assert_eq!(
            read(json!({"object": "error", "message": "no", "code": 404})).status,
            Some(404)
        );
        assert_eq!(read(json!({"detail": "Not Found"})).message, "Not Found");
        assert_eq!(ServiceError::read(&json!({"error": null, "choices": []})), None);
        let anthropic = read(json!({"type": "error", "request_id": "req_1", "error": {
            "type": "overloaded_error", "message": "Overloaded", "details": {"error_code": "busy"}}}));
        assert_eq!(anthropic.labels, ["overloaded_error", "busy"]);
    }
}

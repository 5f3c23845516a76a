//! What servers send, read as tolerantly as it is sent.
//!
//! Entry types: [`Chunk`] (a piece of a streamed reply), [`ServiceError`] (an error body).
//! Unknown members, missing members and members of another type are no error.
//! **Never**: failing; what cannot be read is absent.

use serde_json::{Map, Value};

use crate::provider::Usage;

/// One piece of a streamed reply, or a whole reply sent at once.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Text to append; reasoning is left out.
    pub text: String,
    /// Fragments of tool calls.
    pub calls: Vec<CallDelta>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// Tokens billed so far; the last count stands.
    pub usage: Option<Usage>,
    /// An error in place of an answer.
    pub error: Option<ServiceError>,
}

/// A fragment of a tool call.
#[derive(Debug, Default)]
pub struct CallDelta {
    /// Its slot, when given.
    pub index: Option<u64>,
    /// Its id, when given and not empty.
    pub id: Option<String>,
    /// The tool; empty in fragments after the first.
    pub name: String,
    /// A piece of the arguments.
    pub arguments: String,
    /// Members we do not know.
    pub extra: Map<String, Value>,
}

/// An error as a service describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceError {
    /// What it says to people.
    pub message: String,
    /// `type`, `code`, `status`, reasons: short words.
    pub labels: Vec<String>,
    /// The parameter it is about.
    pub param: Option<String>,
    /// A status inside the body, for errors that come with HTTP 200.
    pub status: Option<u16>,
}

impl Chunk {
    /// Reads one JSON document of a stream.
    pub fn read(value: &Value) -> Self {
        if let Some(error) = ServiceError::read(value) {
            return Self { error: Some(error), ..Self::default() };
        }
        let choice = value.get("choices").and_then(Value::as_array).and_then(|choices| {
            choices
                .iter()
                .find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
        });
        let delta = choice.and_then(|choice| choice.get("delta").or_else(|| choice.get("message")));
        let calls = delta.and_then(|delta| delta.get("tool_calls")).and_then(Value::as_array);
        Self {
            text: delta.and_then(|delta| delta.get("content")).map(text_of).unwrap_or_default(),
            calls: calls.into_iter().flatten().map(CallDelta::read).collect(),
            finish_reason: choice.and_then(|choice| string(choice, "finish_reason")),
            usage: usage_of(value),
            error: None,
        }
    }
}

impl CallDelta {
    fn read(value: &Value) -> Self {
        let function = value.get("function");
        let arguments = match function.and_then(|function| function.get("arguments")) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let members = value.as_object().into_iter().flatten();
        let extra = members
            .filter(|(key, _)| !matches!(key.as_str(), "index" | "id" | "type" | "function"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Self {
            index: value.get("index").and_then(Value::as_u64),
            id: string(value, "id"),
            name: function.and_then(|function| string(function, "name")).unwrap_or_default(),
            arguments,
            extra,
        }
    }
}

impl ServiceError {
    /// The error in `value`, if it is one: `{"error": …}`, the same in an array, FastAPI's
    /// `detail`, or a bare object of kind "error".
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
            Value::Object(members) => {
                members.get("message").map(text_of).unwrap_or_else(|| inner.to_string())
            }
            other => other.to_string(),
        };
        let mut labels: Vec<String> =
            ["type", "code", "status"].iter().filter_map(|key| label(inner, key)).collect();
        let details = inner.get("details").and_then(Value::as_array).into_iter().flatten();
        labels.extend(details.filter_map(|detail| label(detail, "reason")));
        let status = labels.iter().filter_map(|label| label.parse().ok());
        let status = status.into_iter().find(|status| (400..600).contains(status));
        Self { message, param: string(inner, "param"), status, labels }
    }
}

/// A member as a non-empty string.
fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A short word or number.
fn label(value: &Value, key: &str) -> Option<String> {
    match value.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

/// Text that is a string or a list of parts; parts that are no text (thinking) are left out.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter(|part| part.get("type").and_then(Value::as_str).unwrap_or("text") == "text")
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    }
}

fn usage_of(value: &Value) -> Option<Usage> {
    let groq = value.get("x_groq").and_then(|groq| groq.get("usage"));
    let usage = value.get("usage").filter(|usage| usage.is_object()).or(groq)?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let details = usage.get("prompt_tokens_details");
    let cached = details.and_then(|details| details.get("cached_tokens")).and_then(Value::as_u64);
    Some(Usage {
        input_tokens: count("prompt_tokens")?,
        cached_tokens: cached.or_else(|| count("prompt_cache_hit_tokens")).unwrap_or(0),
        output_tokens: count("completion_tokens").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_read_and_reasoning_is_not() {
        let chunk = |delta: Value| Chunk::read(&json!({"choices": [{"delta": delta}]})).text;
        assert_eq!(chunk(json!({"content": "Hm"})), "Hm");
        assert_eq!(chunk(json!({"content": null, "reasoning_content": "plan"})), "");
        assert_eq!(chunk(json!({"content": "", "reasoning": "plan"})), "");
        let parts = json!([{"type": "thinking", "thinking": []}, {"type": "text", "text": "Aye"}]);
        assert_eq!(chunk(json!({"content": parts})), "Aye");
    }

    #[test]
    fn only_the_first_choice_counts() {
        let chunk = Chunk::read(&json!({"choices": [
            {"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}));
        assert_eq!(chunk.text, "yes");
        assert_eq!(Chunk::read(&json!({"choices": []})).text, "");
    }

    #[test]
    fn usage_is_found_where_servers_put_it() {
        let full = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4}}});
        let expected = Usage { input_tokens: 9, cached_tokens: 4, output_tokens: 2 };
        assert_eq!(Chunk::read(&full).usage, Some(expected));
        let groq = json!({"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}});
        assert_eq!(Chunk::read(&groq).usage, Some(Usage { cached_tokens: 0, ..expected }));
        assert_eq!(Chunk::read(&json!({"usage": null})).usage, None);
    }

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
    }

    proptest! {
        #[test]
        fn nothing_that_is_json_fails(text in "[\\[\\]{}\":,0-9a-z ]{0,60}") {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                let _ = Chunk::read(&value);
                let _ = Chunk::read(&json!({"choices": [{"delta": value}]}));
                let _ = Chunk::read(&json!({"error": value}));
            }
        }
    }
}

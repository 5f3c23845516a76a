//! Chunks of a stream, read leniently.
//!
//! Entry type: [`Chunk`]. Ignores unknown members; missing members and members of another type
//! count as absent. **Never**: fails.

use serde_json::{Map, Value};

use crate::provider::{Usage, remote::ServiceError};

/// A piece of a streamed reply, or a whole reply sent at once.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Without reasoning.
    pub text: String,
    pub hidden: usize,
    pub calls: Vec<CallDelta>,
    pub finish_reason: Option<String>,
    /// Tokens billed so far.
    pub usage: Option<Usage>,
    pub error: Option<ServiceError>,
}

#[derive(Debug, Default)]
pub struct CallDelta {
    pub index: Option<u64>,
    /// Never empty.
    pub id: Option<String>,
    /// Empty in fragments after the first.
    pub name: String,
    pub arguments: String,
    pub extra: Map<String, Value>,
}

impl Chunk {
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
            hidden: delta.map(reasoning).unwrap_or_default(),
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

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Text as a string or a list of parts; other parts (thinking) are left out.
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

/// Bytes of reasoning; some servers write it twice.
fn reasoning(delta: &Value) -> usize {
    let length = |key: &&str| delta.get(key).and_then(Value::as_str).map_or(0, str::len);
    ["reasoning_content", "reasoning"].iter().map(length).max().unwrap_or_default()
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
        written_tokens: 0,
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
        let expected =
            Usage { input_tokens: 9, cached_tokens: 4, output_tokens: 2, ..Usage::default() };
        assert_eq!(Chunk::read(&full).usage, Some(expected));
        let groq = json!({"x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}});
        assert_eq!(Chunk::read(&groq).usage, Some(Usage { cached_tokens: 0, ..expected }));
        assert_eq!(Chunk::read(&json!({"usage": null})).usage, None);
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

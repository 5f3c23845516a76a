//! Estimated size of a request to a chat model, in bytes. Services count the tokens
//! (`logic::window`).

use serde_json::Value;

use crate::domain::{Message, Said, ToolCall, ToolSpec};

/// Bytes of a message besides its text.
const ENVELOPE: usize = 16;
/// Bytes of a call or a tool besides its text.
const TOOL_ENVELOPE: usize = 64;

pub fn bytes(messages: &[Message]) -> u64 {
    let length = |message: &Message| match message {
        Message::System(text)
        | Message::User(Said { text, .. })
        | Message::Tool { content: text, .. }
        | Message::Summary { text, .. } => text.len(),
        Message::Assistant { text, calls, .. } => {
            text.len() + calls.iter().map(call_bytes).sum::<usize>()
        }
    };
    count(messages.iter().map(|message| length(message) + ENVELOPE).sum())
}

fn call_bytes(call: &ToolCall) -> usize {
    let extra = call.extra.iter().map(|(key, value)| key.len() + json_bytes(value));
    call.name.len() + call.arguments.len() + TOOL_ENVELOPE + extra.sum::<usize>()
}

/// Bytes of a tool as a model reads it.
pub fn tool_bytes(tool: &ToolSpec) -> u64 {
    count(tool.name.len() + tool.description.len() + json_bytes(&tool.parameters) + TOOL_ENVELOPE)
}

/// Approximate length of a value as text, without writing it.
fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 3,
        Value::Array(values) => 2 + values.iter().map(json_bytes).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(key, it)| key.len() + 4 + json_bytes(it)).sum::<usize>()
        }
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

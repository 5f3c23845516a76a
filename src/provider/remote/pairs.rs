//! Pairs tool calls with their results: services want exactly one result for each call.
//!
//! Entry functions: [`results`], [`arguments`].

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::domain::{Message, ToolCall};

/// Result shown to the model for a call whose turn was interrupted.
pub const NO_RESULT: &str = "cancelled: the call has no result";

/// The result of each call, from the messages before the assistant's next calls.
pub fn results<'m>(calls: &[ToolCall], after: &'m [Message]) -> Vec<Option<&'m str>> {
    let mut given = HashMap::new();
    for message in after {
        match message {
            Message::Tool { call, content, .. } => {
                given.entry(call).or_insert(content.as_str());
            }
            Message::Assistant { calls, .. } if !calls.is_empty() => break,
            _ => {}
        }
    }
    calls.iter().map(|call| given.get(&call.id).copied()).collect()
}

/// The arguments as an object. `None` if they are malformed: services parse them again and fail.
pub fn arguments(call: &ToolCall) -> Option<Map<String, Value>> {
    serde_json::from_str(&call.arguments).ok()
}

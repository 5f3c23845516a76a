//! Calls of tools with what became of them: services want one result for each.
//!
//! Entry functions: [`results`], [`arguments`]. **Never**: knows how a service writes them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::domain::{Message, ToolCall};

/// Result that the model reads for a call whose own never came (the turn was interrupted).
pub const NO_RESULT: &str = "cancelled: the call has no result";

/// For each of `calls` its result among the messages up to the next assistant's that calls; `None`:
/// there is none.
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

/// The arguments as an object; what a model wrote wrongly is none, for services parse what they get
/// back and fail on it.
pub fn arguments(call: &ToolCall) -> Option<Map<String, Value>> {
    serde_json::from_str(&call.arguments).ok()
}

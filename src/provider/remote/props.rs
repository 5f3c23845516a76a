//! Requests for the tests of the chat models.

use std::sync::Arc;

use serde_json::json;

use crate::{
    domain::{Calling, Message, ToolChoice, ToolSpec},
    provider::{Attempts, ChatRequest},
};

/// A tool without arguments.
pub fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        identity: format!("dice-roller.{name}").into(),
        description: "rolls".into(),
        parameters: Arc::new(json!({"type": "object", "properties": {}})),
        calling: Calling::Waits,
    }
}

/// A request for 50 tokens at most.
pub fn request(messages: Vec<Message>, tools: &[ToolSpec]) -> ChatRequest {
    ChatRequest {
        messages,
        tools: tools.into(),
        tool_choice: ToolChoice::Auto,
        max_tokens: 50,
        facts: Arc::default(),
        attempts: Attempts::default(),
    }
}

/// A request for 100, with two tools.
pub fn asks() -> ChatRequest {
    let messages = vec![Message::System("You are Bartok.".into()), Message::User("roll".into())];
    ChatRequest { max_tokens: 100, ..request(messages, &[spec("roll"), spec("look")]) }
}

//! One request to a chat model outside any turn, paid for.
//!
//! Entry function: [`ask_once`]. **Never**: offers tools.

use std::sync::Arc;

use futures::StreamExt;

use super::{
    purse::{Purse, consumed, expected},
    window::bytes,
};
use crate::{
    domain::{Message, Npc, ToolChoice, TurnFacts},
    provider::{ChatEvent, ChatModel, ChatRequest, Error},
};

/// What `model` answers to `messages`, in at most so many tokens, as `npc` and paid for from
/// `purse`. Cancel safe: dropping the future ends the request.
///
/// # Errors
/// The model's own, or a spending cap was reached.
pub async fn ask_once(
    model: &dyn ChatModel,
    npc: &Npc,
    purse: &Purse,
    (messages, max_tokens): (Vec<Message>, u32),
) -> Result<String, Error> {
    let held = purse.hold(
        model.priced_as(),
        &npc.name,
        npc.policy.max_cost,
        expected(bytes(&messages), max_tokens),
    )?;
    let mut stream = model.stream(ChatRequest {
        messages,
        tools: Arc::from([]),
        tool_choice: ToolChoice::None,
        max_tokens,
        facts: Arc::new(TurnFacts::default()),
    });
    let (mut text, mut usage) = (String::new(), None);
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(delta) => text.push_str(&delta),
            ChatEvent::Usage(billed) => usage = Some(billed),
            ChatEvent::ToolCall(_) => {}
            ChatEvent::Done => break,
        }
    }
    if let Some(usage) = usage {
        held.settle(consumed(usage));
    }
    Ok(text)
}

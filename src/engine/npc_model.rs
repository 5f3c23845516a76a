//! An NPC's chat model, and what pays for it.
//!
//! Entry type: [`NpcModel`]. **Never**: sends a request that the caps do not allow.

use std::sync::Arc;

use futures::StreamExt;

use super::{
    budget::{Budget, Reservation, consumed, expected},
    size::bytes,
};
use crate::{
    domain::{Message, Npc, ToolChoice, TurnFacts},
    provider::{ChatEvent, ChatModel, ChatRequest, Error},
};

/// The chat model of one NPC; clones pay from the same budget.
#[derive(Clone)]
pub struct NpcModel {
    /// Who pays, as far as its policy's own cap goes.
    pub npc: Arc<Npc>,
    /// The service that is asked.
    pub model: Arc<dyn ChatModel>,
    /// What the session may spend.
    pub budget: Budget,
    /// Longest answer of a turn, in tokens.
    pub max_tokens: u32,
}

impl NpcModel {
    /// Sets aside what a request of so many bytes with an answer of so many tokens may cost. Cancel
    /// safe.
    ///
    /// # Errors
    /// A spending cap would be passed, or nothing can be written down.
    pub async fn reserve(&self, bytes: u64, max_tokens: u32) -> Result<Reservation, Error> {
        let (payer, cap) = (&self.npc.name, self.npc.policy.max_cost);
        let expected = expected(bytes, max_tokens);
        self.budget.reserve(self.model.priced_as(), payer, cap, expected).await
    }

    /// What the model answers to `messages` outside any turn and without tools, in at most so many
    /// tokens. Cancel safe: dropping the future ends the request.
    ///
    /// # Errors
    /// The model's own, or a spending cap was reached.
    pub async fn ask_once(&self, messages: Vec<Message>, max_tokens: u32) -> Result<String, Error> {
        let reserved = self.reserve(bytes(&messages), max_tokens).await?;
        let mut stream = self.model.stream(ChatRequest {
            messages,
            tools: Arc::from([]),
            tool_choice: ToolChoice::None,
            max_tokens,
            facts: Arc::new(TurnFacts::default()),
            attempts: reserved.attempts(),
        });
        let (mut text, mut usage) = (String::new(), None);
        while let Some(event) = stream.next().await {
            match event {
                Ok(ChatEvent::Text(delta)) => text.push_str(&delta),
                Ok(ChatEvent::Usage(billed)) => usage = Some(billed),
                Ok(ChatEvent::ToolCall(_)) => {}
                Ok(ChatEvent::Done) => break,
                Err(error) => {
                    reserved.failed(error.kind());
                    return Err(error);
                }
            }
        }
        if let Some(usage) = usage {
            reserved.settle(consumed(usage));
        }
        Ok(text)
    }
}

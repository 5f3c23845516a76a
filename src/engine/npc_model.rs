//! An NPC's chat models, and what pays for them.
//!
//! Entry type: [`NpcModel`]. **Never**: sends a request that the caps do not allow.

use std::sync::Arc;

use super::{
    asking::{Answering, Asking, Payer},
    budget::Budget,
    payments::NpcPayments,
    size::bytes,
};
use crate::{
    domain::{Message, Npc, ToolChoice, TurnFacts},
    provider::{Attempts, Chain, ChatEvent, ChatModel, ChatRequest, Error},
    tools::Payments,
};

/// The chat models of one NPC, of which one answers; clones pay from the same budget.
#[derive(Clone)]
pub struct NpcModel {
    /// The payer, up to its policy's own cap.
    pub npc: Arc<Npc>,
    /// The services that are asked, one after the other.
    pub models: Chain<dyn ChatModel>,
    /// Budget of the session.
    pub budget: Budget,
    /// Longest answer of a turn, in tokens.
    pub max_tokens: u32,
}

impl NpcModel {
    /// Pays for the NPC's tools from the same budget.
    pub fn payments(&self) -> Arc<dyn Payments> {
        Arc::new(NpcPayments::new(Arc::clone(&self.npc), self.budget.clone()))
    }

    /// Asks for an answer to `request`, of so many bytes, whichever model gives it. Cancel safe: dropping
    /// the future ends its requests.
    ///
    /// # Errors
    /// No model answers, the request is wrong, or a spending cap would be passed.
    pub async fn ask(&self, request: ChatRequest, bytes: u64) -> Result<Answering, Error> {
        let payer = Payer { npc: Arc::clone(&self.npc), budget: self.budget.clone() };
        Asking::new(&self.models, payer, request, bytes).answer().await
    }

    /// Answers `messages` outside any turn and without tools, in at most so many
    /// tokens; skips written lines if a model exists. Cancel safe: dropping the future ends the request.
    ///
    /// # Errors
    /// The model's own, or a spending cap was reached.
    pub async fn ask_once(&self, messages: Vec<Message>, max_tokens: u32) -> Result<String, Error> {
        let size = bytes(&messages);
        let request = ChatRequest {
            messages,
            tools: Arc::from([]),
            tool_choice: ToolChoice::None,
            max_tokens,
            facts: Arc::new(TurnFacts::default()),
            attempts: Attempts::default(),
        };
        let models = self.models.only(ChatModel::reads_prompts);
        let models = models.unwrap_or_else(|| self.models.clone());
        let mut answering = Self { models, ..self.clone() }.ask(request, size).await?;
        let mut text = String::new();
        while let Some(event) = answering.next().await {
            match event {
                Ok(ChatEvent::Text(delta)) => text.push_str(&delta),
                Ok(
                    ChatEvent::Usage(_)
                    | ChatEvent::Hidden(_)
                    | ChatEvent::ToolCall(_)
                    | ChatEvent::CutOff(_),
                ) => {}
                Ok(ChatEvent::Done) => break,
                Err(error) => {
                    answering.failed(error.kind());
                    return Err(error);
                }
            }
        }
        answering.settle();
        Ok(text)
    }
}

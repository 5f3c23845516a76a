//! An NPC's chat models, and their budget.
//!
//! Entry type: [`NpcModel`].

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

/// Chat models of one NPC; clones share the budget.
#[derive(Clone)]
pub struct NpcModel {
    /// The payer; its policy may have a cap.
    pub npc: Arc<Npc>,
    /// Services in the order in which they are asked.
    pub models: Chain<dyn ChatModel>,
    pub budget: Budget,
    pub max_tokens: u32,
}

impl NpcModel {
    pub fn payments(&self) -> Arc<dyn Payments> {
        Arc::new(NpcPayments::new(Arc::clone(&self.npc), self.budget.clone()))
    }

    /// Sends `request` to the models in order; `bytes` is its size. Fails if none answers, if the
    /// request is wrong, or at a spending cap. Cancel safe: dropping the future ends its requests.
    pub async fn ask(&self, request: ChatRequest, bytes: u64) -> Result<Answering, Error> {
        let payer = Payer { npc: Arc::clone(&self.npc), budget: self.budget.clone() };
        Asking::new(&self.models, payer, request, bytes).answer().await
    }

    /// Answers `messages` outside turns and without tools. Skips scripted lines if a model exists.
    /// Cancel safe: dropping the future ends the request.
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

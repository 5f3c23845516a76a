//! An NPC's chat models, and their budget.
//!
//! Entry types: [`NpcModel`], and [`LentModel`] for servers that work on a call of the NPC. The
//! caps apply to both. **Never**: reveals anything of the table or the service to a server.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value;

use super::{
    asking::{Answering, Asking, Payer},
    budget::Budget,
    payments::NpcPayments,
};
use crate::{
    domain::{Message, Npc, Said, ToolCall, ToolChoice, ToolSpec, TurnFacts},
    provider::{Attempts, Chain, ChatEvent, ChatModel, ChatRequest, Error, Kind},
    tools::{NotSampled, Payments, SampleRequest, Sampled, Sampler},
};

/// Longest answer for a server, in tokens.
const LONGEST: u32 = 512;

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

#[derive(Clone)]
pub struct LentModel(NpcModel);

impl LentModel {
    /// `None` if `model` reads no prompts.
    pub fn of(model: &NpcModel) -> Option<Arc<dyn Sampler>> {
        let lent = Self(model.clone());
        lent.0.models.reads_prompts().then(|| Arc::new(lent) as Arc<dyn Sampler>)
    }

    async fn ask(&self, request: SampleRequest) -> Result<Sampled, Error> {
        let max_tokens = request.max_tokens.min(LONGEST);
        let text = self.0.ask_once(request.messages, max_tokens).await?;
        Ok(Sampled { text, model: self.0.models.called() })
    }
}

impl Sampler for LentModel {
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>> {
        let lent = self.clone();
        let server = Arc::clone(&request.server);
        async move {
            let npc = &lent.0.npc.name;
            let sampled = lent.ask(request).await;
            match &sampled {
                Ok(_) => tracing::info!(server = &*server, npc, "chat model lent to a server"),
                Err(error) => tracing::warn!(
                    server = &*server,
                    npc,
                    %error,
                    "chat model not lent to a server"
                ),
            }
            sampled.map_err(|error| match error.kind() {
                Kind::OverBudget => NotSampled::OverBudget,
                _ => NotSampled::Failed,
            })
        }
        .boxed()
    }
}

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

//! The game master's assistant: one question, one answer in writing.
//!
//! Entry type: [`Assistant`]. **Never**: sits at a table.

use std::sync::Arc;

use crate::{
    campaign::AssistantSettings,
    domain::SessionId,
    engine::{self, Budget, NpcCalls, NpcModel, Question},
    provider::Error,
    session::ToolLine,
    tools::{Effects, ToolHost},
};

/// Factor by which a written answer may exceed a spoken one.
const WRITTEN: u32 = 4;

/// The assistant of one session.
pub struct Assistant {
    engine: engine::Assistant,
    name: String,
    session: SessionId,
    effects: Arc<dyn Effects>,
}

/// Text of the answer.
#[derive(Debug)]
pub struct Answer {
    /// Its words, for people to read.
    pub text: String,
    /// The calls it made meanwhile.
    pub tools: Vec<ToolLine>,
}

/// Parts of an assistant, beside its settings.
pub struct AssistantParts {
    /// The session it is asked in.
    pub session: SessionId,
    /// Pays for its model and its calls.
    pub budget: Budget,
    /// The tools, as this session sees them.
    pub host: ToolHost,
    /// Effects of its tools.
    pub effects: Arc<dyn Effects>,
    /// Varies what scripted lines are said.
    pub seed: u64,
}

impl Assistant {
    /// The assistant that `settings` describe.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(settings: &AssistantSettings, parts: AssistantParts) -> Result<Self, Error> {
        let npc = Arc::clone(&settings.npc);
        let name = npc.name.clone();
        let made = parts.host.calls_of(&npc.name);
        let model = NpcModel {
            models: settings.model.make(parts.seed)?,
            npc,
            budget: parts.budget,
            max_tokens: settings.max_tokens.saturating_mul(WRITTEN),
        };
        let calls = NpcCalls { host: parts.host, made, filler_after: settings.filler_after };
        let engine = engine::Assistant::new(model, calls, &settings.campaign);
        Ok(Self { engine, name, session: parts.session, effects: parts.effects })
    }

    /// Name of the assistant.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers a question of the game master. Cancel safe: dropping the future ends its requests
    /// and its calls.
    ///
    /// # Errors
    /// The model failed, a spending cap was reached, or the answer is empty.
    pub async fn ask(&self, text: &str) -> Result<Answer, engine::Failure> {
        let question = Question {
            session: self.session.clone(),
            text: text.to_owned(),
            effects: Arc::clone(&self.effects),
        };
        let answer = self.engine.ask(question).await?;
        Ok(Answer { text: answer.text, tools: answer.tools.iter().map(Into::into).collect() })
    }
}

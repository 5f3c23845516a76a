//! The game master's assistant: one question, one written answer. Entry type: [`Assistant`].

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

pub struct Assistant {
    engine: engine::Assistant,
    name: String,
    session: SessionId,
    effects: Arc<dyn Effects>,
}

#[derive(Debug)]
pub struct Answer {
    pub text: String,
    pub tools: Vec<ToolLine>,
}

pub struct AssistantParts {
    pub session: SessionId,
    /// Pays for its model and its calls.
    pub budget: Budget,
    /// The tools of this session.
    pub host: ToolHost,
    pub effects: Arc<dyn Effects>,
    /// Varies scripted lines.
    pub seed: u64,
}

impl Assistant {
    /// Fails on an address or key that makes no request.
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

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers a game master's question. Fails if the model failed, a spending cap was reached or
    /// the answer is empty. Cancel safe: dropping the future ends its requests and calls.
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

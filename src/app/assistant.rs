//! The game master's assistant: one question, one answer in writing.
//!
//! Entry type: [`Assistant`]. **Never**: sits at a table.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    config::Config,
    domain::SessionId,
    engine::{self, CascadedParts, Purse, Question, SessionCalls},
    provider::{Error, Registry},
    session::ToolLine,
    tools::{ApprovalRequest, Attachment, Decision, Effects, FollowUp, Form, ToolHost},
};

/// How much longer a written answer may be than a spoken one.
const WRITTEN: u32 = 4;

/// The assistant of one session.
pub struct Assistant {
    engine: engine::Assistant,
    name: String,
    session: SessionId,
    effects: Arc<dyn Effects>,
}

/// What differs from assistant to assistant.
pub struct AssistantSetup {
    /// The session its tools are called in.
    pub session: SessionId,
    /// Pays for its model and its calls.
    pub purse: Purse,
    /// Its tools.
    pub host: ToolHost,
    /// What its tools reach.
    pub effects: Arc<dyn Effects>,
    /// Varies what the scripted brain says.
    pub seed: u64,
}

/// What it answered.
#[derive(Debug)]
pub struct Answer {
    /// In writing.
    pub text: String,
    /// What it called.
    pub tools: Vec<ToolLine>,
}

impl Assistant {
    /// The assistant of `config`.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(
        config: &Config,
        services: &Registry,
        setup: AssistantSetup,
    ) -> Result<Self, Error> {
        let AssistantSetup { session, purse, host, effects, seed } = setup;
        let npc = Arc::new(config.assistant.clone());
        let name = npc.name.clone();
        let parts = CascadedParts {
            model: services.model(&config.services, &npc, seed)?,
            npc,
            host,
            purse,
            max_tokens: config.session.max_tokens.saturating_mul(WRITTEN),
            filler_after: config.session.filler_after,
            session_calls: SessionCalls::default(),
        };
        let engine = engine::Assistant::new(parts, &config.campaign);
        Ok(Self { engine, name, session, effects: Arc::new(Written(effects)) })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Answers a question of the game master. Cancel safe: dropping the future ends its requests
    /// and its calls.
    ///
    /// # Errors
    /// The model failed, a spending cap was reached, or there was nothing to say.
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

/// Effects of somebody without a voice: late results are shown.
struct Written(Arc<dyn Effects>);

impl Effects for Written {
    fn show(&self, text: &str) {
        self.0.show(text);
    }

    fn attach(&self, tool: &str, attachment: &Attachment) {
        self.0.attach(tool, attachment);
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        self.0.approve(request)
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.0.elicit(form)
    }

    fn follow_up(&self, late: FollowUp) {
        let line = ToolLine::from(&late.record);
        self.show(&format!("{} for {}: {}", line.tool, late.npc, line.result));
    }
}

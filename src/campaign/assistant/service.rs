//! Questions of game masters to the assistant, within sessions and outside.
//!
//! Entry type: [`Questions`]. **Never**: lets a session pay for another one.

use std::sync::Arc;

use super::engine::{Assistant, AssistantParts};
use crate::{
    campaign::{DailyAllowance, Sessions, SharedSettings, today},
    domain::SessionId,
    engine::Failure,
    provider::Error,
    tools::{Effects, ToolHost},
};

/// What a game master asks.
pub struct AssistantQuestion {
    /// The session that runs and pays; `None`: the day's allowance does.
    pub session: Option<SessionId>,
    /// The question, as it was typed.
    pub text: String,
    /// What the tools of the assistant reach.
    pub effects: Arc<dyn Effects>,
}

/// What the assistant has written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The answer, for people to read.
    pub text: String,
    /// Identities of the tools it called.
    pub tools: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// An address or key that makes no request.
    #[error(transparent)]
    Model(#[from] Error),
    /// It has none.
    #[error("{name} has no answer: {why}")]
    NoAnswer {
        /// What the assistant is called.
        name: String,
        /// What happened to it.
        why: Failure,
    },
}

/// Has the assistant answer. Cloning shares it.
#[derive(Clone)]
pub struct Questions {
    /// What is configured.
    pub settings: SharedSettings,
    /// Those that run pay for their own questions.
    pub sessions: Sessions,
    /// Pays for the others.
    pub allowance: DailyAllowance,
    /// The tools, of which a session sees its own.
    pub tools: ToolHost,
}

impl Questions {
    /// The tools for what is asked outside sessions, whose calls are counted by the day, like its
    /// money.
    fn outside_sessions(&self) -> ToolHost {
        let of_day = |day: i64| SessionId(format!("operator {day}"));
        self.tools.forget(&of_day(today() - 1));
        self.tools.at(&of_day(today()))
    }

    /// Has the assistant answer `question`. Cancel safe.
    pub fn ask(
        &self,
        question: AssistantQuestion,
    ) -> impl Future<Output = Result<Written, AskError>> + Send + use<> {
        let AssistantQuestion { session, text, effects } = question;
        let own = session.as_ref().and_then(|session| self.sessions.assistant(session));
        let (budget, settings) = own.unwrap_or_else(|| {
            let settings = self.settings.load();
            (self.allowance.budget(&settings.budget), settings.assistant.clone())
        });
        let host = match &session {
            Some(session) => self.tools.at(session),
            None => self.outside_sessions(),
        };
        let session = session.unwrap_or_else(|| SessionId("operator".to_owned()));
        let seed = rand::random();
        let parts = AssistantParts { session, budget, host, effects, seed };
        let opened = Assistant::open(&settings, parts);
        async move {
            let assistant = opened?;
            let name = || assistant.name().to_owned();
            let answer = assistant.ask(&text).await;
            let answer = answer.map_err(|why| AskError::NoAnswer { name: name(), why })?;
            let tools = answer.tools.into_iter().map(|line| line.tool).collect();
            Ok(Written { text: answer.text, tools })
        }
    }
}

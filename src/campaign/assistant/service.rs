//! Game masters' questions to the assistant, within sessions and outside. Entry type:
//! [`Questions`].
//! **Never**: lets a session pay for another one.

use std::sync::Arc;

use super::engine::{Assistant, AssistantParts};
use crate::{
    campaign::{AccountFor, Accounts, Sessions, SharedSettings, ToolDecisions, outside_sessions},
    domain::{Scope, SessionId},
    engine::Failure,
    memory,
    provider::Error,
    tools::{Effects, ToolHost},
};

pub struct AssistantQuestion {
    /// Asker and campaign: scope of the tools, and payer outside a session.
    pub scope: Scope,
    /// The running session, which pays; `None` outside one.
    pub session: Option<SessionId>,
    /// Decisions about tools, for use outside a session.
    pub decided: ToolDecisions,
    pub text: String,
    pub effects: Arc<dyn Effects>,
}

#[derive(Clone, Debug)]
pub struct Written {
    pub text: String,
    pub tools: Vec<String>,
    /// Calls still running.
    pub pending: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Invalid address or key.
    #[error(transparent)]
    Model(#[from] Error),
    /// The ledger cannot record the cost.
    #[error("cannot record what is spent: {0}")]
    Ledger(#[from] memory::Error),
    #[error("{name} has no answer: {why}")]
    NoAnswer { name: String, why: Failure },
}

/// Asks the assistant. Cloning shares it.
#[derive(Clone)]
pub struct Questions {
    pub settings: SharedSettings,
    /// Running sessions pay for their own questions.
    pub sessions: Sessions,
    /// Pays for questions outside sessions.
    pub accounts: Accounts,
    /// All tools; each session sees its own.
    pub tools: ToolHost,
}

impl Questions {
    /// Answers `question`. Cancel safe.
    pub fn ask(
        &self,
        question: AssistantQuestion,
    ) -> impl Future<Output = Result<Written, AskError>> + Send + use<> {
        let AssistantQuestion { scope, session, decided, text, effects } = question;
        let own = session.as_ref().and_then(|session| self.sessions.assistant(session));
        let (settings, accounts) = (self.settings.load_full(), self.accounts.clone());
        let (session, host) = match session {
            Some(session) => (session.clone(), self.tools.at(&session, &scope)),
            None => outside_sessions(&self.tools, &scope, decided),
        };
        let seed = rand::random();
        async move {
            let (budget, assistant) = match own {
                Some(own) => own,
                None => {
                    let budget = accounts.open(&scope, AccountFor::Outside, &settings.budget);
                    (budget.await?, settings.assistant.clone())
                }
            };
            let parts = AssistantParts { session, budget, host, effects, seed };
            let assistant = Assistant::open(&assistant, parts)?;
            let name = || assistant.name().to_owned();
            let answer = assistant.ask(&text).await;
            let answer = answer.map_err(|why| AskError::NoAnswer { name: name(), why })?;
            let pending = answer.tools.iter().filter(|line| line.pending).count();
            let tools = answer.tools.into_iter().map(|line| line.tool).collect();
            Ok(Written { text: answer.text, tools, pending })
        }
    }
}

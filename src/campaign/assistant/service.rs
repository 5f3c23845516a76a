//! Questions of game masters to the assistant, within sessions and outside.
//!
//! Entry type: [`Questions`]. **Never**: lets a session pay for another one.

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

/// A question of a game master.
pub struct AssistantQuestion {
    /// Asker and campaign: scope of its tools, and payer outside a session.
    pub scope: Scope,
    /// The running session, which pays; `None` outside one.
    pub session: Option<SessionId>,
    /// Decisions about tools, for use outside a session.
    pub decided: ToolDecisions,
    /// The question, as it was typed.
    pub text: String,
    /// Effects of the assistant's tools.
    pub effects: Arc<dyn Effects>,
}

/// A written answer of the assistant.
#[derive(Clone, Debug)]
pub struct Written {
    /// The answer, for people to read.
    pub text: String,
    /// Identities of the tools it called.
    pub tools: Vec<String>,
    /// Number of calls that have not ended yet.
    pub pending: usize,
}

/// Reasons for the lack of an answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// An address or key that makes no request.
    #[error(transparent)]
    Model(#[from] Error),
    /// The ledger cannot record the cost.
    #[error("cannot record what is spent: {0}")]
    Ledger(#[from] memory::Error),
    /// It has none.
    #[error("{name} has no answer: {why}")]
    NoAnswer {
        /// Name of the assistant.
        name: String,
        /// Cause of the failure.
        why: Failure,
    },
}

/// Has the assistant answer. Cloning shares it.
#[derive(Clone)]
pub struct Questions {
    /// The configuration.
    pub settings: SharedSettings,
    /// Those that run pay for their own questions.
    pub sessions: Sessions,
    /// Pays for the others.
    pub accounts: Accounts,
    /// The tools, of which a session sees its own.
    pub tools: ToolHost,
}

impl Questions {
    /// Has the assistant answer `question`. Cancel safe.
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

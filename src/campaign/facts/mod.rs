//! Facts that models propose, and the decisions of game masters about them.
//!
//! Entry type: [`ProposedFacts`]; functions [`facts`], [`decide`], [`consolidate`]. **Never**:
//! takes a proposal for true without a verdict.

mod proposals;

pub use proposals::{
    Decided, Fact, FactError, FactId, FactStatus, FactsPage, Verdict, WaitingFacts, consolidate,
    decide, facts,
};

use std::sync::Arc;

use proposals::{fact, settle, waiting};
use tokio::sync::Mutex;

use crate::{
    campaign::{Scoped, SharedSettings},
    domain::Scope,
    memory::MemoryStore,
};

/// Note without a chat model.
const NO_MODEL: &str = "Proposing facts needs a chat model (providers.llm in glyphoxa.yaml).";
/// Note when facts are proposed only on request.
const OFF: &str = "I propose facts when a game master uses /session recap (memory.consolidate is \
                   off in glyphoxa.yaml).";
/// Note when facts are proposed after each session.
const ON: &str = "I propose facts when a session ends, and when a game master uses /session recap.";

/// Proposed facts. Cloning shares them.
#[derive(Clone)]
pub struct ProposedFacts {
    settings: SharedSettings,
    store: Arc<dyn MemoryStore>,
    /// Held during a decision: the second of two verdicts finds the fact decided.
    deciding: Arc<Mutex<()>>,
}

impl ProposedFacts {
    pub fn new(settings: SharedSettings, store: Arc<dyn MemoryStore>) -> Self {
        Self { settings, store, deciding: Arc::default() }
    }

    /// A page of the waiting facts, with a note on why it may be empty.
    pub async fn waiting(self, scope: Scope, page: FactsPage) -> Result<WaitingFacts, FactError> {
        let mut found = waiting(Scoped::new(&*self.store, &scope), page).await?;
        let settings = self.settings.load();
        let has_model = settings.assistant.model.make(0).is_ok_and(|it| it.reads_prompts());
        found.note = Some(match (has_model, settings.consolidate) {
            (false, _) => NO_MODEL,
            (true, true) => ON,
            (true, false) => OFF,
        });
        Ok(found)
    }

    /// The fact `id`, decided or not.
    pub async fn fact(self, scope: Scope, id: String) -> Result<Fact, FactError> {
        fact(Scoped::new(&*self.store, &scope), &id).await
    }

    /// Decides a waiting fact, one verdict after another.
    pub async fn decide(
        self,
        scope: Scope,
        id: String,
        verdict: Verdict,
    ) -> Result<Decided, FactError> {
        let _turn = self.deciding.lock().await;
        settle(Scoped::new(&*self.store, &scope), &id, verdict).await
    }
}

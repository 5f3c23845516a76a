//! Facts that wait, for the faces of game masters.
//!
//! Entry type: [`ProposedFacts`]. **Never**: takes a proposal for true unasked.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::{
    fact::{Fact, FactsPage, Verdict, WaitingFacts},
    proposals::{Decided, FactError, fact, settle, waiting},
};
use crate::{
    campaign::{Scoped, SharedSettings},
    domain::Scope,
    memory::MemoryStore,
};

/// Said where no model proposes anything.
const NO_MODEL: &str = "Proposing facts needs a chat model (providers.llm in glyphoxa.yaml).";
/// Said where nothing is proposed of itself.
const OFF: &str = "I propose facts when a game master uses /session recap (memory.consolidate is \
                   off in glyphoxa.yaml).";
/// Said where they are.
const ON: &str = "I propose facts when a session ends, and when a game master uses /session recap.";

/// Facts that models have proposed. Cloning shares them.
#[derive(Clone)]
pub struct ProposedFacts {
    settings: SharedSettings,
    store: Arc<dyn MemoryStore>,
    /// Held while a fact is decided: of two verdicts the second finds it decided.
    deciding: Arc<Mutex<()>>,
}

impl ProposedFacts {
    /// Those in `store`.
    pub fn new(settings: SharedSettings, store: Arc<dyn MemoryStore>) -> Self {
        Self { settings, store, deciding: Arc::default() }
    }

    /// A page of the facts that wait, with a word on why there may be none.
    ///
    /// # Errors
    /// The memory cannot be read.
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

    /// The fact `id`, whatever became of it.
    ///
    /// # Errors
    /// It is gone, or the memory cannot be read.
    pub async fn fact(self, scope: Scope, id: String) -> Result<Fact, FactError> {
        fact(Scoped::new(&*self.store, &scope), &id).await
    }

    /// Decides about a fact that waits, one verdict after the other.
    ///
    /// # Errors
    /// It is gone, or the memory cannot be read or written.
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

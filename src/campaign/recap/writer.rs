//! Who writes recaps.
//!
//! Entry type: [`Writer`]. **Never**: pays with money of its own.

use std::sync::Arc;

use crate::{
    campaign::AssistantSettings,
    domain::Npc,
    engine::Purse,
    provider::{ChatModel, Error},
};

/// Who writes recaps.
pub struct Writer {
    /// The chat model that is asked.
    pub model: Arc<dyn ChatModel>,
    /// The assistant, in whose name it is asked.
    pub npc: Arc<Npc>,
    /// Pays for every request.
    pub purse: Purse,
}

impl Writer {
    /// The model of `assistant`, paid for from `purse`; `None` where it reads no prompts.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn new(assistant: &AssistantSettings, purse: Purse) -> Result<Option<Self>, Error> {
        let (model, npc) = (assistant.model.make(0)?, Arc::clone(&assistant.npc));
        Ok(model.reads_prompts().then_some(Self { model, npc, purse }))
    }
}

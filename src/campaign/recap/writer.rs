//! The model that writes recaps.
//!
//! Entry type: [`Writer`]. **Never**: pays with money of its own.

use std::sync::Arc;

use crate::{
    campaign::AssistantSettings,
    engine::{Budget, NpcModel},
    provider::Error,
};

/// Longest answer of the model, in tokens.
const LONGEST: u32 = 1_200;

/// The model that writes recaps.
pub struct Writer {
    /// The assistant's chat model and what pays for it.
    pub model: NpcModel,
}

impl Writer {
    /// The model of `assistant`, paid for from `budget`; `None` where it reads no prompts.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn new(assistant: &AssistantSettings, budget: Budget) -> Result<Option<Self>, Error> {
        let (models, npc) = (assistant.model.make(0)?, Arc::clone(&assistant.npc));
        let model = NpcModel { npc, models, budget, max_tokens: LONGEST };
        Ok(model.models.reads_prompts().then_some(Self { model }))
    }
}

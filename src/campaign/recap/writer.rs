//! The model that writes recaps. Entry type: [`Writer`].

use std::sync::Arc;

use crate::{
    campaign::AssistantSettings,
    engine::{Budget, NpcModel},
    provider::Error,
};

/// Longest answer, in tokens.
const LONGEST: u32 = 1_200;

pub struct Writer {
    /// The assistant's chat model and its budget.
    pub model: NpcModel,
}

impl Writer {
    /// The model of `assistant`, paid for from `budget`; `None` if it reads no prompts.
    pub fn new(assistant: &AssistantSettings, budget: Budget) -> Result<Option<Self>, Error> {
        let (models, npc) = (assistant.model.make(0)?, Arc::clone(&assistant.npc));
        let model = NpcModel { npc, models, budget, max_tokens: LONGEST };
        Ok(model.models.reads_prompts().then_some(Self { model }))
    }
}

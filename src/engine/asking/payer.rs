//! The payer of requests to chat models.

use std::sync::Arc;

use crate::{
    domain::Npc,
    engine::budget::{Budget, Reservation, expected},
    provider::{ChatModel, Error},
};

/// An NPC whose policy may have a cap, and the session's budget.
pub struct Payer {
    pub npc: Arc<Npc>,
    pub budget: Budget,
}

impl Payer {
    /// Reserves the most that a request may cost at `model`; await [`Reservation::ready`] before
    /// sending it. Fails at a spending cap.
    pub fn reserve(
        &self,
        model: &dyn ChatModel,
        bytes: u64,
        max_tokens: u32,
    ) -> Result<Reservation, Error> {
        let (payer, cap) = (&self.npc.name, self.npc.policy.max_cost);
        let longest = max_tokens.saturating_add(model.thinks());
        let mut expected = expected(bytes, longest);
        if model.writes_cache() {
            expected.written_tokens = expected.input_tokens;
        }
        self.budget.reserve_now(model.priced_as(), payer, cap, expected)
    }
}

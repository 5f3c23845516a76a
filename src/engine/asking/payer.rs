//! The payer of requests to chat models.

use std::sync::Arc;

use crate::{
    domain::Npc,
    engine::budget::{Budget, Reservation, expected},
    provider::{ChatModel, Error},
};

/// An NPC, as far as its policy's own cap goes, and what the session may spend.
pub struct Payer {
    /// The NPC that answers; its policy may have a cap of its own.
    pub npc: Arc<Npc>,
    /// Budget of the session.
    pub budget: Budget,
}

impl Payer {
    /// Sets aside what a request of so many bytes with an answer of so many tokens may cost at `model`; it
    /// is waited for ([`Reservation::ready`]) before the request goes out.
    ///
    /// # Errors
    /// A spending cap would be passed.
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

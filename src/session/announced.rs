//! Outside services announced to a table's people, and cast changes that wait for an announcement.
//!
//! Entry type: [`Announced`]. A role waits until all services it needs are announced. Nothing said
//! before the announcement goes to them: queued or half-received sound is dropped, and waiting
//! utterances are answered by the previous engine.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::recast::Role;

#[derive(Default)]
pub struct Announced {
    services: BTreeSet<String>,
    /// Last announcement that a role was waiting for.
    at: Option<Instant>,
    waiting: Vec<Role>,
}

impl Announced {
    /// Returns `role` if its services are announced, else stores it. Replaces a waiting role of the
    /// same NPC.
    pub fn admit(&mut self, role: Role) -> Option<Role> {
        if role.seat.is_none() {
            return Some(role);
        }
        self.waiting.retain(|waiting| waiting.npc != role.npc);
        if role.outside.is_subset(&self.services) {
            return Some(role);
        }
        tracing::info!(npc = role.npc, "changes once the players are told of its services");
        self.waiting.push(role);
        None
    }

    pub fn keep_cast(&mut self, is_cast: impl Fn(&str) -> bool) {
        self.waiting.retain(|role| is_cast(&role.npc));
    }

    /// Records that `services` were announced; returns the roles that are ready now.
    pub fn told(&mut self, now: Instant, services: BTreeSet<String>) -> Vec<Role> {
        let is_ready = |role: &Role| role.outside.is_subset(&services);
        let (ready, waiting): (Vec<Role>, Vec<Role>) =
            std::mem::take(&mut self.waiting).into_iter().partition(is_ready);
        (self.services, self.waiting) = (services, waiting);
        if !ready.is_empty() {
            self.at = Some(now);
        }
        ready
    }

    /// True if a waiting role took effect after `said`: its services must not receive that speech.
    pub fn is_after(&self, said: Instant) -> bool {
        self.at.is_some_and(|at| said < at)
    }
}

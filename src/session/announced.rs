//! Outside services that the people at a table were told of, and changes of its cast that wait for others.
//!
//! Entry type: [`Announced`]. A role names the outside services that may be given what is said, and waits
//! until all of them are announced. What was said before the announcement goes to none of them: sound that is
//! queued or half heard is dropped, and utterances that wait are answered by the engine of before.
//! **Never**: announces anything.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::recast::Role;

/// Services announced so far, and roles that wait for theirs.
#[derive(Default)]
pub struct Announced {
    services: BTreeSet<String>,
    /// Time of the last announcement for which a role waited.
    at: Option<Instant>,
    waiting: Vec<Role>,
}

impl Announced {
    /// Returns `role` if its services are announced; else stores it until they are. Either way it replaces a
    /// waiting role of the same NPC.
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

    /// Drops waiting roles of NPCs that are not in the cast any more.
    pub fn keep_cast(&mut self, is_cast: impl Fn(&str) -> bool) {
        self.waiting.retain(|role| is_cast(&role.npc));
    }

    /// The people were told of `services` at `now`. Returns the roles that waited for that.
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

    /// True if roles that waited took effect after `said`, which is not for their services.
    pub fn is_after(&self, said: Instant) -> bool {
        self.at.is_some_and(|at| said < at)
    }
}

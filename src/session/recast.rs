//! A new description of a running table, and roles that wait for an announcement.
//!
//! Entry types: [`Recast`], [`Announced`]. A role waits until all outside services it needs are
//! announced. Nothing said before the announcement goes to them: queued or half-received sound is
//! dropped, and waiting utterances are answered by the previous engine.

use std::{collections::BTreeSet, fmt, sync::Arc};

use tokio::time::Instant;

use super::{options::Options, seat::MakeSeat};
use crate::{
    domain::Campaign,
    logic::tier::{Keywords, RuleName},
    provider::TurnJudge,
};

pub struct Recast {
    pub options: Options,
    /// Sound model for pauses, if wanted and available.
    pub judge: Option<Arc<dyn TurnJudge>>,
    pub campaign: Arc<Campaign>,
    pub keywords: Keywords,
    pub rules: Arc<[RuleName]>,
    /// In order; NPCs that it omits leave.
    pub cast: Vec<Role>,
}

pub struct Role {
    /// The NPC's name; it joins if it is not at the table yet.
    pub npc: String,
    /// Makes its seat; `None`: unchanged.
    pub seat: Option<MakeSeat>,
    /// Outside services that its players' words go to, by their names in notices. The role waits
    /// until they are announced ([`Command::Announced`](super::Command::Announced)). Empty for
    /// tables without announcements.
    pub outside: BTreeSet<String>,
}

impl fmt::Debug for Recast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cast: Vec<&str> = self.cast.iter().map(|role| &*role.npc).collect();
        f.debug_struct("Recast").field("cast", &cast).finish_non_exhaustive()
    }
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Role").field("npc", &self.npc).finish_non_exhaustive()
    }
}

/// Announced services, and roles waiting for theirs.
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

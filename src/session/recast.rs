//! A new description of a running table: cast, campaign, settings.
//!
//! Entry type: [`Recast`].

use std::{collections::BTreeSet, fmt, sync::Arc};

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

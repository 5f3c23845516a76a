//! A new description of a table while it runs: its cast, its campaign, its settings.
//!
//! Entry type: [`Recast`]. **Never**: done anything with here.

use std::{collections::BTreeSet, fmt, sync::Arc};

use super::{options::Options, seat::MakeSeat};
use crate::{
    domain::Campaign,
    logic::tier::{Keywords, RuleName},
    provider::TurnJudge,
};

/// A new description of a table.
pub struct Recast {
    /// The settings.
    pub options: Options,
    /// Judges how pauses sound, where that is wanted and possible.
    pub judge: Option<Arc<dyn TurnJudge>>,
    /// The people, places and scenes that NPCs may speak of.
    pub campaign: Arc<Campaign>,
    /// Keywords that raise a turn's tier.
    pub keywords: Keywords,
    /// Names in the rules, which raise it too.
    pub rules: Arc<[RuleName]>,
    /// The whole cast, in its order; NPCs that are not in it leave.
    pub cast: Vec<Role>,
}

/// An NPC of a table's cast.
pub struct Role {
    /// The NPC's name; it joins if no NPC of this name is at the table.
    pub npc: String,
    /// Makes its seat; `None`: it goes on as it is.
    pub seat: Option<MakeSeat>,
    /// Outside services that may be given what is said once it goes by this, as notices name them. It waits
    /// until they are announced ([`Command::Announced`](super::Command::Announced)). Empty where nobody is
    /// told of services.
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

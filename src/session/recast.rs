//! A table that is described anew while it runs: its cast, its campaign, what can be set about it.
//!
//! Entry type: [`Recast`]. **Never**: done anything with here.

use std::{fmt, sync::Arc};

use super::{options::Options, seat::MakeSeat};
use crate::{domain::Campaign, logic::tier::Keywords, provider::TurnJudge};

/// A table described anew.
pub struct Recast {
    /// What can be set.
    pub options: Options,
    /// Judges how pauses sound, where that is wanted and possible.
    pub judge: Option<Arc<dyn TurnJudge>>,
    /// The people, places and scenes that NPCs may speak of.
    pub campaign: Arc<Campaign>,
    /// What raises a turn's tier.
    pub keywords: Keywords,
    /// Phrases that name a rule, which raise it too.
    pub rules: Arc<[String]>,
    /// The whole cast, in its order; whoever is not in it leaves.
    pub cast: Vec<Role>,
}

/// An NPC of a table's cast.
pub struct Role {
    /// Its name; whoever is not at the table under it comes.
    pub npc: String,
    /// Makes its seat; `None`: it goes on as it is.
    pub seat: Option<MakeSeat>,
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

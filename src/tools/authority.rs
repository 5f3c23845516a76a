//! On whose authority a tool is called, and what that authority is bound by.
//!
//! Entry type: [`Authority`]. **Never**: runs anything.

use std::sync::Arc;

use tokio::time::Instant;

use super::{CallError, OfferedNames, Payments, Sampler, TurnLimits};
use crate::domain::{Tier, ToolCall};

/// On whose authority a tool is called.
#[derive(Clone)]
pub enum Authority {
    /// An NPC's model: bound by its whitelist, the tier of its turn, the limits of its policy, and
    /// the game master's approval.
    Npc(Caller, TurnLimits),
    /// The operator, who tries what an NPC could call: bound as the NPC is, save for the limits.
    OperatorAs(Caller),
    /// The operator, or the program that measures its tools: bound by nothing.
    Operator,
    /// A game master, by a command, as an NPC: bound as the NPC is, approval included.
    Dm(Caller, TurnLimits),
    /// An NPC whose call was counted when it asked, and approved since: bound by its whitelist.
    Approved(Caller),
}

/// An NPC whose model calls.
#[derive(Clone)]
pub struct Caller {
    /// Its full name.
    pub npc: Arc<str>,
    /// Effective tier of its turn.
    pub tier: Tier,
    /// Tools offered to its model; they resolve the names it uses.
    pub offered: Arc<OfferedNames>,
    /// Lends its chat model to servers that may ask; `None`: servers cannot ask.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Pays for built-in tools that cost money; `None`: those are refused.
    pub payments: Option<Arc<dyn Payments>>,
}

impl Authority {
    /// The NPC that calls or is tried; `None`: the operator, who is bound by no whitelist and no tier.
    pub const fn caller(&self) -> Option<&Caller> {
        match self {
            Self::Npc(caller, _)
            | Self::OperatorAs(caller)
            | Self::Dm(caller, _)
            | Self::Approved(caller) => Some(caller),
            Self::Operator => None,
        }
    }

    /// The word used in the log.
    pub fn name(&self) -> &str {
        match self {
            Self::Npc(caller, _) | Self::OperatorAs(caller) | Self::Approved(caller) => &caller.npc,
            Self::Operator => "operator",
            Self::Dm(..) => "game master",
        }
    }

    /// Lets a call pass and counts it, or says which limit of the NPC's policy it hits.
    ///
    /// # Errors
    /// [`super::CallErrorKind::Policy`] with text for the model.
    pub fn admit(&self, now: Instant, call: &ToolCall) -> Result<(), CallError> {
        match self {
            Self::Npc(_, limits) | Self::Dm(_, limits) => limits.admit(now, call),
            Self::OperatorAs(_) | Self::Operator | Self::Approved(_) => Ok(()),
        }
    }
}

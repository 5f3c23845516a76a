//! On whose authority a tool is called, and the limits of that authority.

use std::sync::Arc;

use tokio::time::Instant;

use super::{CallError, OfferedNames, Payments, Sampler, TurnLimits};
use crate::domain::{Tier, ToolCall};

/// The caller, with its limits.
#[derive(Clone)]
pub enum Authority {
    /// An NPC's model: bound by whitelist, tier of the turn, policy limits and approval.
    Npc(Caller, TurnLimits),
    /// The operator trying an NPC's tools: bound as the NPC is, without policy limits.
    OperatorAs(Caller),
    /// The operator, or calibration: no limits.
    Operator,
    /// A game master's command in an NPC's name: bound as the NPC is, approval included.
    Dm(Caller, TurnLimits),
    /// An approved call, already counted when it was requested: bound by the whitelist.
    Approved(Caller),
}

/// The NPC that calls.
#[derive(Clone)]
pub struct Caller {
    /// Full name of the NPC.
    pub npc: Arc<str>,
    /// Effective tier of the turn.
    pub tier: Tier,
    /// Tools offered to the model, used to resolve the names it calls.
    pub offered: Arc<OfferedNames>,
    /// Lends the NPC's chat model to servers; `None`: sampling is disabled.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// Pays for paid built-in tools; `None`: those are refused.
    pub payments: Option<Arc<dyn Payments>>,
}

impl Authority {
    /// The NPC whose limits apply; `None`: the operator.
    pub const fn caller(&self) -> Option<&Caller> {
        match self {
            Self::Npc(caller, _)
            | Self::OperatorAs(caller)
            | Self::Dm(caller, _)
            | Self::Approved(caller) => Some(caller),
            Self::Operator => None,
        }
    }

    /// Name used in the log.
    pub fn name(&self) -> &str {
        match self {
            Self::Npc(caller, _) | Self::OperatorAs(caller) | Self::Approved(caller) => &caller.npc,
            Self::Operator => "operator",
            Self::Dm(..) => "game master",
        }
    }

    /// Admits and counts a call within the NPC's limits.
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

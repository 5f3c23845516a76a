//! On whose authority a tool is called, with its limits, and the services lent to the caller:
//! offered tools, the NPC's chat model for servers (sampling), and money for paid built-in tools.

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{CallError, TurnLimits};
use crate::{
    domain::{Message, Tier, ToolCall},
    logic::budget::Consumption,
    provider::{Attempts, Kind},
};

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

    /// Books what the call costs on `tool`.
    #[must_use]
    pub(super) fn paying_for(mut self, tool: &str) -> Self {
        if let Self::Npc(caller, _)
        | Self::OperatorAs(caller)
        | Self::Dm(caller, _)
        | Self::Approved(caller) = &mut self
        {
            let payments = caller.payments.as_ref().and_then(|it| it.for_tool(tool));
            caller.payments = payments.or_else(|| caller.payments.take());
        }
        self
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

/// Each name with the definition's hash ([`super::Tool::hash`]) when it was offered.
#[derive(Debug, Default)]
pub struct OfferedNames(HashMap<Arc<str>, u64>);

impl OfferedNames {
    /// `None`: not offered.
    pub fn hash(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

impl FromIterator<(Arc<str>, u64)> for OfferedNames {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, u64)>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

/// Lends the calling NPC's chat model.
pub trait Sampler: Send + Sync {
    /// Asks the model within the spending caps. Dropping the future cancels the request.
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct SampleRequest {
    pub server: Arc<str>,
    /// The whole conversation; nothing of the table is added.
    pub messages: Vec<Message>,
    /// In tokens.
    pub max_tokens: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    pub text: String,
    pub model: String,
}

/// Sent to the server, so it reveals nothing about the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSampled {
    #[error("the spending cap of this session is reached")]
    OverBudget,
    #[error("the chat model gave no answer")]
    Failed,
}

pub trait Payments: Send + Sync {
    /// Reserves the most a request to `service` may cost. Cancel safe.
    ///
    /// # Errors
    /// [`super::CallErrorKind::Policy`] if a spending cap would be exceeded.
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>>;

    /// These payments, booked on `tool`; `None`: they are not told apart by tool.
    fn for_tool(&self, _tool: &str) -> Option<Arc<dyn Payments>> {
        None
    }
}

/// Money reserved for one request; fully booked if dropped unsettled.
pub trait Payment: Send + Sync {
    fn settle(self: Box<Self>, used: Consumption);

    /// Refunds everything: the request was not sent.
    fn unused(self: Box<Self>);

    /// Refunds the part a request that failed with `kind` cannot have cost.
    fn failed(self: Box<Self>, kind: Kind);

    /// Pays for retries.
    fn attempts(&self) -> Attempts;
}

pub(super) struct Free;

impl Payment for Free {
    fn settle(self: Box<Self>, _used: Consumption) {}

    fn unused(self: Box<Self>) {}

    fn failed(self: Box<Self>, _kind: Kind) {}

    fn attempts(&self) -> Attempts {
        Attempts::default()
    }
}

//! What a tool call knows of the turn it serves, and how it reaches the table.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::domain::{SessionId, Tier, TurnId};

/// The turn a call belongs to.
#[derive(Clone)]
pub struct CallContext {
    /// Play session.
    pub session: SessionId,
    /// Turn within it.
    pub turn: TurnId,
    /// Full name of the NPC whose model calls; `None`: the operator.
    pub npc: Option<Arc<str>>,
    /// Who was answered.
    pub speaker: Arc<str>,
    /// Effective tier of the turn.
    pub tier: Tier,
    /// When the turn's tool time is over.
    pub deadline: Instant,
    /// Ends the call when the turn ends.
    pub cancel: CancellationToken,
    /// The table itself.
    pub effects: Arc<dyn Effects>,
}

/// What a tool may do to the table beside answering; the session's owner fills it.
pub trait Effects: Send + Sync {
    /// Shows a line to everyone at the table ("Bartok rolls 2d6 (4, 5) = 9").
    fn show(&self, text: &str);
}

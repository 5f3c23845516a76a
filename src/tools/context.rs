//! Context of a tool call: its turn, and its effects on the table.
//!
//! Entry types: [`CallContext`], [`Effects`]. **Never**: knows what the table is made of.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    Attachment, Authority, CallError, CallErrorKind, CallRecord,
    payments::{Free, Payment},
};
use crate::{
    domain::{PersonId, Scope, SessionId, ToolCall, TurnId},
    logic::{budget::Consumption, music::MusicOrder},
};

/// The turn a call belongs to.
#[derive(Clone)]
pub struct CallContext {
    /// Owner and campaign of the call.
    pub scope: Scope,
    /// The play session the turn belongs to.
    pub session: SessionId,
    /// Turn within it.
    pub turn: TurnId,
    /// On whose authority the tool is called, which says what binds the call.
    pub authority: Authority,
    /// Name of the speaker the NPC is answering.
    pub speaker: Arc<str>,
    /// Their id; `None`: not a person of the table.
    pub by: Option<PersonId>,
    /// End of the turn's tool time.
    pub deadline: Instant,
    /// Kept results must not be used.
    pub fresh: bool,
    /// Contents of the calling model's window.
    pub taint: Taint,
    /// Signs of life, which extend the call's deadline.
    pub progress: Progress,
    /// Ends the call when the turn ends.
    pub cancel: CancellationToken,
    /// The table itself.
    pub effects: Arc<dyn Effects>,
}

impl CallContext {
    /// Reserves money for a request of this call; a free service (`None`) always passes. Cancel safe.
    ///
    /// # Errors
    /// [`CallErrorKind::Policy`] when a spending cap would be passed, or no budget counts this call.
    pub async fn pay(
        &self,
        service: Option<&str>,
        most: Consumption,
    ) -> Result<Box<dyn Payment>, CallError> {
        let Some(service) = service else { return Ok(Box::new(Free)) };
        let payments = self.authority.caller().and_then(|caller| caller.payments.as_ref());
        let payments = payments.ok_or_else(|| {
            let why = format!(
                "'{service}' costs money, and no budget covers this call (call the tool in a session)"
            );
            CallError::new(CallErrorKind::Policy, why)
        })?;
        payments.reserve(service, most).await
    }
}

/// Contents of a model's window: words from outside, which may carry orders, and secrets, which
/// they may be after. Clones mark together.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<Marks>);

#[derive(Debug, Default)]
struct Marks {
    outside: AtomicBool,
    secrets: AtomicBool,
}

impl Taint {
    /// Words from outside are read.
    pub fn set(&self) {
        self.0.outside.store(true, Ordering::Relaxed);
    }

    /// True if words from outside were read.
    pub fn is_set(&self) -> bool {
        self.0.outside.load(Ordering::Relaxed)
    }

    /// Marks secrets as read.
    pub fn set_secrets(&self) {
        self.0.secrets.store(true, Ordering::Relaxed);
    }

    /// True if secrets were read.
    pub fn holds_secrets(&self) -> bool {
        self.0.secrets.load(Ordering::Relaxed)
    }
}

/// Signs of life of a call.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Notify>);

impl Progress {
    /// Reports that the call is still at work.
    pub fn note(&self) {
        self.0.notify_one();
    }

    /// Resolves at the next sign of life, or at once if one came since the last call. Cancel
    /// safe.
    pub async fn noted(&self) {
        self.0.notified().await;
    }
}

/// Effects of a tool on the table besides its answer; implemented by the owner of the session.
pub trait Effects: Send + Sync {
    /// Shows a line to everyone at the table ("Bartok rolls 2d6 (4, 5) = 9").
    fn show(&self, text: &str);

    /// Shows everyone a picture or a sound that `tool` has returned; false if it will not be shown.
    fn attach(&self, tool: &str, attachment: &Attachment) -> bool;

    /// Sends `text` to the game master alone; dropped where that is impossible.
    fn tell_dm(&self, text: &str) {
        _ = text;
    }

    /// Number of X-cards used so far: what was asked for before the last one is withdrawn.
    fn halts(&self) -> u64 {
        0
    }

    /// Changes what music sounds at the table.
    ///
    /// # Errors
    /// No music can be played there, with the reason.
    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        _ = order;
        Err("no music can be played here")
    }

    /// Advice on getting an approver; `None`: one is there.
    fn lacks_approver(&self) -> Option<&'static str> {
        Some("a game master decides: in a session on Discord, or with glyphoxa ask --as-dm")
    }

    /// Asks the game master about a call; without anybody to ask, the call is denied.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        _ = request;
        ready(Decision::Deny("no game master is there to approve it".to_owned())).boxed()
    }

    /// Shows the game master a server's question as a form; `None`: declined.
    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        _ = form;
        ready(None).boxed()
    }

    /// A call has ended after its turn: its NPC tells the table in a turn of its own. Without a
    /// table the result is dropped.
    fn follow_up(&self, late: FollowUp) {
        tracing::debug!(tool = &*late.record.tool, "a late result has no table");
    }
}

/// A call that waits for the game master.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRequest {
    /// The NPC that wants it.
    pub npc: Arc<str>,
    /// The person it is called for; `None`: not a person of the table.
    pub by: Option<PersonId>,
    /// Identity of the tool.
    pub tool: Arc<str>,
    /// Arguments of the call.
    pub arguments: Map<String, Value>,
    /// Reason the game master must decide.
    pub reason: Cow<'static, str>,
    /// Fingerprint of the tool's definition.
    pub definition: Arc<str>,
    /// The definition may be allowed for good; otherwise each call is decided.
    pub may_be_waived: bool,
}

/// The game master's decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The call runs as the model made it.
    Approve,
    /// So do all later ones, as long as the tool is defined as it is.
    Always,
    /// The call runs with these arguments instead.
    Edit(Map<String, Value>),
    /// The call does not run; the reason is for the model.
    Deny(String),
}

/// A question of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Name of the server that asks.
    pub server: Arc<str>,
    /// The question, in the server's words.
    pub message: String,
    /// JSON Schema of the answer.
    pub schema: Value,
}

/// A result that came after its turn.
#[derive(Clone, Debug)]
pub struct FollowUp {
    /// Name of the calling NPC.
    pub npc: Arc<str>,
    /// Turn that made the call.
    pub turn: TurnId,
    /// The person that turn answered; `None`: not a person of the table.
    pub by: Option<PersonId>,
    /// Cancelled once nobody is to hear of it.
    pub withdrawn: CancellationToken,
    /// The call as the model made it.
    pub call: ToolCall,
    /// Record of the call.
    pub record: CallRecord,
}

//! What a tool call knows of the turn it serves, and how it reaches the table.
//!
//! Entry types: [`CallContext`], [`Effects`]. **Never**: knows what the table is made of.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Attachment, CallRecord, OfferedNames, Sampler};
use crate::domain::{SessionId, Tier, ToolCall, TurnId};

/// The turn a call belongs to.
#[derive(Clone)]
pub struct CallContext {
    /// The play session the turn belongs to.
    pub session: SessionId,
    /// Turn within it.
    pub turn: TurnId,
    /// Whose model calls; `None`: the operator, who is bound by no whitelist and no tier.
    pub caller: Option<Caller>,
    /// Who was answered.
    pub speaker: Arc<str>,
    /// When the turn's tool time is over.
    pub deadline: Instant,
    /// Kept answers are not good enough.
    pub fresh: bool,
    /// The turn has read something from outside.
    pub taint: Taint,
    /// Where the call says that it is at work.
    pub progress: Progress,
    /// Ends the call when the turn ends.
    pub cancel: CancellationToken,
    /// The table itself.
    pub effects: Arc<dyn Effects>,
}

/// An NPC whose model calls.
#[derive(Clone)]
pub struct Caller {
    /// Its full name.
    pub npc: Arc<str>,
    /// Effective tier of its turn.
    pub tier: Tier,
    /// What its model was offered, which is what its names mean.
    pub offered: Arc<OfferedNames>,
    /// Lends its chat model to servers that may ask; `None`: servers cannot ask.
    pub sampler: Option<Arc<dyn Sampler>>,
}

/// Whether a turn has read data from outside, which may carry instructions.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<AtomicBool>);

impl Taint {
    /// Data from outside was read.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Signs of life of a call.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Notify>);

impl Progress {
    /// It is at work.
    pub fn note(&self) {
        self.0.notify_one();
    }

    /// Resolves when it has been at work since the last look. Cancel safe.
    pub async fn noted(&self) {
        self.0.notified().await;
    }
}

/// What a tool may do to the table beside answering; the session's owner fills it.
pub trait Effects: Send + Sync {
    /// Shows a line to everyone at the table ("Bartok rolls 2d6 (4, 5) = 9").
    fn show(&self, text: &str);

    /// Puts a picture or a sound that `tool` brought before everyone.
    fn attach(&self, tool: &str, attachment: &Attachment);

    /// Asks the game master about a call; without anybody to ask, the call is denied.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        _ = request;
        ready(Decision::Deny("nobody is there to approve it".to_owned())).boxed()
    }

    /// Puts a server's question to the game master as a form; `None`: declined.
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
    /// Who wants it.
    pub npc: Arc<str>,
    /// Identity of the tool.
    pub tool: Arc<str>,
    /// What it would be called with.
    pub arguments: Map<String, Value>,
    /// Why it is asked.
    pub reason: &'static str,
}

/// What the game master says.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The call runs as the model made it.
    Approve,
    /// Call it with these arguments.
    Edit(Map<String, Value>),
    /// Do not, with a reason for the model.
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
    /// Whose call it was.
    pub npc: Arc<str>,
    /// Who was answered in the turn that called.
    pub speaker: Arc<str>,
    /// The call as the model made it.
    pub call: ToolCall,
    /// What became of it.
    pub record: CallRecord,
}

//! Context of a tool call: its turn, its effects on the table, and its time limit.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Attachment, Authority, CallError, CallErrorKind, CallRecord,
    authority::{Free, Payment},
};
use crate::{
    domain::{PersonId, Scope, SessionId, ToolCall, TurnId},
    logic::{budget::Consumption, music::MusicOrder},
    traces::Span,
};

/// Turn and authority of a call.
#[derive(Clone)]
pub struct CallContext {
    /// Owner and campaign.
    pub scope: Scope,
    /// The play session.
    pub session: SessionId,
    /// Turn within the session.
    pub turn: TurnId,
    /// The caller, with its limits.
    pub authority: Authority,
    /// Name of the speaker the NPC answers.
    pub speaker: Arc<str>,
    /// Their id; `None`: not a person of the table.
    pub by: Option<PersonId>,
    /// End of the turn's tool time.
    pub deadline: Instant,
    /// Skips cached results.
    pub fresh: bool,
    /// Contents of the calling model's window.
    pub taint: Taint,
    /// Signs of life, which extend the call's deadline.
    pub progress: Progress,
    /// The call in the turn's trace.
    pub span: Span,
    /// Ends the call with the turn.
    pub cancel: CancellationToken,
    /// Effects on the table.
    pub effects: Arc<dyn Effects>,
}

impl CallContext {
    /// Reserves money for a request of this call; a free service (`None`) always passes. Cancel
    /// safe.
    ///
    /// # Errors
    /// [`CallErrorKind::Policy`] if a spending cap would be exceeded, or no budget pays for this
    /// call.
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

/// Contents of a model's window: outside words, which may carry orders, and secrets they may be
/// after. Clones share their marks.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<Marks>);

#[derive(Debug, Default)]
struct Marks {
    outside: AtomicBool,
    secrets: AtomicBool,
}

impl Taint {
    /// Marks outside words as read.
    pub fn set(&self) {
        self.0.outside.store(true, Ordering::Relaxed);
    }

    /// True if outside words were read.
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
    /// Reports that the call is still running.
    pub fn note(&self) {
        self.0.notify_one();
    }

    /// Resolves at the next sign of life, or at once if one came since the last call. Cancel safe.
    pub async fn noted(&self) {
        self.0.notified().await;
    }
}

/// Effects of a tool on the table besides its answer.
pub trait Effects: Send + Sync {
    /// Shows everyone a line ("Bartok rolls 2d6 (4, 5) = 9").
    fn show(&self, text: &str);

    /// Shows everyone a picture or sound from `tool`; false if it cannot be shown.
    fn attach(&self, tool: &str, attachment: &Attachment) -> bool;

    /// Sends `text` to the game master only, if possible.
    fn tell_dm(&self, text: &str) {
        _ = text;
    }

    /// Number of X-cards used so far; requests from before the last one are withdrawn.
    fn halts(&self) -> u64 {
        0
    }

    /// Changes the table's music.
    ///
    /// # Errors
    /// The reason no music can be played there.
    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        _ = order;
        Err("no music can be played here")
    }

    /// The reason that no music is heard there; `None`: it is.
    fn lacks_loudspeaker(&self) -> Option<&'static str> {
        None
    }

    /// Advice on getting an approver; `None`: one is present.
    fn lacks_approver(&self) -> Option<&'static str> {
        Some("a game master decides: in a session on Discord, or with glyphoxa ask --as-dm")
    }

    /// Asks the game master about a call; without an approver, it is denied.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        _ = request;
        ready(Decision::Deny("no game master is there to approve it".to_owned())).boxed()
    }

    /// Shows the game master a server's question as a form; `None`: declined.
    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        _ = form;
        ready(None).boxed()
    }

    /// Delivers a call that ended after its turn: its NPC tells the table in a turn of its own.
    /// Dropped without a table.
    fn follow_up(&self, late: FollowUp) {
        tracing::debug!(tool = &*late.record.tool, "a late result has no table");
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRequest {
    pub npc: Arc<str>,
    /// `None`: not a person of the table.
    pub by: Option<PersonId>,
    pub tool: Arc<str>,
    pub arguments: Map<String, Value>,
    pub reason: Cow<'static, str>,
    pub definition: Arc<str>,
    /// It may be allowed for good; otherwise each call is decided.
    pub may_be_waived: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The call runs as made.
    Approve,
    /// Also approves later calls of the same definition.
    Always,
    /// The call runs with these arguments.
    Edit(Map<String, Value>),
    /// The call does not run; a system outside gives its result.
    Complete(Value),
    /// The call does not run; holds the reason for the model.
    Deny(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub server: Arc<str>,
    /// In the server's words.
    pub message: String,
    /// JSON Schema of the answer.
    pub schema: Value,
}

#[derive(Clone, Debug)]
pub struct FollowUp {
    pub npc: Arc<str>,
    pub turn: TurnId,
    /// The person that turn answered; `None`: not a person of the table.
    pub by: Option<PersonId>,
    /// Cancelled when the result is withdrawn.
    pub withdrawn: CancellationToken,
    /// The call as the model made it.
    pub call: ToolCall,
    pub record: CallRecord,
}

#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Longest time without an answer or a sign of life.
    pub quiet: Duration,
    pub until: Instant,
}

impl Limit {
    /// Ends `max` after `started`; signs of life do not extend it.
    pub fn hard(max: Duration, started: Instant) -> Self {
        Self { quiet: max, until: started + max }
    }

    /// The output of `answer` within the limit; `Err`: the time from `started` to the limit. Each
    /// sign of life restarts the quiet period. Cancel safe if `answer` is.
    pub async fn hold<T>(
        self,
        started: Instant,
        progress: &Progress,
        answer: impl Future<Output = T>,
    ) -> Result<T, Duration> {
        tokio::pin!(answer);
        let mut deadline = self.until.min(started + self.quiet);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(answer),
                // Polled before the clock: on a busy machine both may be ready.
                () = progress.noted() => {
                    let now = Instant::now();
                    if now >= self.until {
                        return Err(self.until - started);
                    }
                    deadline = self.until.min(now + self.quiet);
                }
                () = sleep_until(deadline) => return Err(deadline - started),
            }
        }
    }
}

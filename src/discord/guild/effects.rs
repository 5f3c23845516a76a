//! Effects of tools on a table in Discord.
//!
//! Entry type: [`GuildEffects`]. It hands everything to the guild's task. **Never**: decides for the
//! game master.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::{
    session::Halts,
    tools::{ApprovalRequest, Attachment, Decision, Effects, Form},
};

/// Request of a tool to the guild.
pub enum ToolRequest {
    /// The game master is to read this.
    Tell(String),
    /// Everybody is to read this.
    Show(String),
    /// Everybody is to see this.
    Attach {
        /// Identity of the tool that brought it.
        tool: String,
        /// The picture or sound.
        attachment: Attachment,
        /// X-cards used before it was asked for; another one withdraws it.
        halts: u64,
    },
    /// The game master is to decide about a call.
    Approve(ApprovalRequest, oneshot::Sender<Decision>),
    /// The game master is to fill in a form; dropping the sender declines.
    Elicit(Form, oneshot::Sender<Map<String, Value>>),
}

/// Effects of tools on a guild; a full queue loses and logs requests, except those that wait for an
/// answer.
pub struct GuildEffects {
    requests: mpsc::Sender<ToolRequest>,
    /// X-cards used in the session so far; its table counts them.
    halts: Arc<Halts>,
}

impl GuildEffects {
    /// A way to the reader of `requests`, at a table that counts `halts`.
    pub const fn new(requests: mpsc::Sender<ToolRequest>, halts: Arc<Halts>) -> Self {
        Self { requests, halts }
    }

    fn tell(&self, request: ToolRequest) {
        if self.requests.try_send(request).is_err() {
            tracing::warn!("dropped the output of a tool");
        }
    }
}

impl Effects for GuildEffects {
    fn show(&self, text: &str) {
        self.tell(ToolRequest::Show(text.to_owned()));
    }

    fn attach(&self, tool: &str, attachment: &Attachment) {
        let (tool, attachment, halts) = (tool.to_owned(), attachment.clone(), self.halts());
        self.tell(ToolRequest::Attach { tool, attachment, halts });
    }

    fn tell_dm(&self, text: &str) {
        self.tell(ToolRequest::Tell(text.to_owned()));
    }

    fn halts(&self) -> u64 {
        self.halts.count()
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        None
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        let requests = self.requests.clone();
        async move {
            let nobody = || Decision::Deny("no game master is there to approve it".to_owned());
            let (answer, answered) = oneshot::channel();
            if requests.send(ToolRequest::Approve(request, answer)).await.is_err() {
                return nobody();
            }
            answered.await.unwrap_or_else(|_| nobody())
        }
        .boxed()
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        let requests = self.requests.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            requests.send(ToolRequest::Elicit(form, answer)).await.ok()?;
            answered.await.ok()
        }
        .boxed()
    }
}

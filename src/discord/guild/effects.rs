//! What tools may do to a table that sits in Discord.
//!
//! Entry type: [`GuildEffects`]. It hands everything to the guild's task. **Never**: decides for the
//! game master.

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::tools::{ApprovalRequest, Attachment, Decision, Effects, Form};

/// What is asked of the guild.
pub enum Ask {
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
    },
    /// The game master is to decide about a call.
    Approve(ApprovalRequest, oneshot::Sender<Decision>),
    /// The game master is to fill in a form; dropping the sender declines.
    Elicit(Form, oneshot::Sender<Map<String, Value>>),
}

/// Tools' way to a guild.
pub struct GuildEffects {
    asks: mpsc::Sender<Ask>,
}

impl GuildEffects {
    /// To whoever reads `asks`.
    pub fn new(asks: mpsc::Sender<Ask>) -> Self {
        Self { asks }
    }

    /// Tells the game master something.
    pub fn tell_dm(&self, text: String) {
        self.tell(Ask::Tell(text));
    }

    fn tell(&self, ask: Ask) {
        if self.asks.try_send(ask).is_err() {
            tracing::warn!("what a tool has shown found no channel");
        }
    }
}

impl Effects for GuildEffects {
    fn show(&self, text: &str) {
        self.tell(Ask::Show(text.to_owned()));
    }

    fn attach(&self, tool: &str, attachment: &Attachment) {
        self.tell(Ask::Attach { tool: tool.to_owned(), attachment: attachment.clone() });
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        let asks = self.asks.clone();
        async move {
            let nobody = || Decision::Deny("nobody is there to approve it".to_owned());
            let (answer, answered) = oneshot::channel();
            if asks.send(Ask::Approve(request, answer)).await.is_err() {
                return nobody();
            }
            answered.await.unwrap_or_else(|_| nobody())
        }
        .boxed()
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        let asks = self.asks.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            asks.send(Ask::Elicit(form, answer)).await.ok()?;
            answered.await.ok()
        }
        .boxed()
    }
}

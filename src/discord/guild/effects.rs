//! Effects of tools on a table in Discord.
//!
//! Entry type: [`GuildEffects`]. Passes everything to the guild's task.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::{
    discord::ui::message::FILE_BYTES,
    session::Halts,
    tools::{ApprovalRequest, Attachment, Decision, Effects, Form},
};

/// Most waiting files, about eight seconds' worth; each may be as large as Discord allows. Tools
/// are refused beyond that.
const FILES_MAX: usize = 8;

pub enum ToolRequest {
    Tell(String),
    Show(String),
    Attach {
        tool: String,
        attachment: Attachment,
        /// X-cards used before the request; another one withdraws it.
        halts: u64,
        /// Its place among waiting files; dropping it frees the place.
        place: OwnedSemaphorePermit,
    },
    Approve(ApprovalRequest, oneshot::Sender<Decision>),
    /// Dropping the sender declines.
    Elicit(Form, oneshot::Sender<Map<String, Value>>),
}

/// Effects of tools on a guild. A full queue drops and logs requests, except those that wait for an
/// answer.
pub struct GuildEffects {
    requests: mpsc::Sender<ToolRequest>,
    /// X-cards used in the session; its table counts them.
    halts: Arc<Halts>,
    /// Places of files waiting to be shown.
    places: Arc<Semaphore>,
}

impl GuildEffects {
    /// Sends to the reader of `requests`; the table counts `halts`.
    pub fn new(requests: mpsc::Sender<ToolRequest>, halts: Arc<Halts>) -> Self {
        Self { requests, halts, places: Arc::new(Semaphore::new(FILES_MAX)) }
    }

    /// False if the queue is full.
    fn tell(&self, request: ToolRequest) -> bool {
        let is_told = self.requests.try_send(request).is_ok();
        if !is_told {
            tracing::warn!("dropped the output of a tool");
        }
        is_told
    }
}

impl Effects for GuildEffects {
    fn show(&self, text: &str) {
        _ = self.tell(ToolRequest::Show(text.to_owned()));
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        let size = attachment.bytes.len();
        if size > FILE_BYTES {
            let (mib, mime) = (size >> 20, &attachment.mime);
            self.show(&format!("{tool} returned {mime} of {mib} MiB, which is too large"));
            return false;
        }
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            self.show(&format!("{tool} returned a file, but {FILES_MAX} wait to be shown already"));
            return false;
        };
        let (tool, attachment, halts) = (tool.to_owned(), attachment.clone(), self.halts());
        self.tell(ToolRequest::Attach { tool, attachment, halts, place })
    }

    fn tell_dm(&self, text: &str) {
        _ = self.tell(ToolRequest::Tell(text.to_owned()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_room_is_not_said_to_be_shown() {
        let (requests, mut waiting) = mpsc::channel(2 * FILES_MAX);
        let effects = GuildEffects::new(requests, Arc::default());
        assert!(
            !effects.attach("maps.draw", &Attachment::picture(FILE_BYTES + 1)),
            "Discord takes none so large"
        );
        let Ok(ToolRequest::Show(text)) = waiting.try_recv() else { panic!("nothing is said") };
        assert!(text.contains("too large"), "{text}");
        let shown = (0..=FILES_MAX)
            .filter(|_| effects.attach("maps.draw", &Attachment::picture(3)))
            .count();
        assert_eq!(shown, FILES_MAX);
        let Ok(first) = waiting.try_recv() else { panic!("nothing waits") };
        assert!(!effects.attach("maps.draw", &Attachment::picture(3)), "it is on its way");
        drop(first);
        assert!(
            effects.attach("maps.draw", &Attachment::picture(3)),
            "it has given its place back"
        );
    }

    #[test]
    fn file_is_not_said_to_be_shown_to_a_busy_guild() {
        let (requests, _waiting) = mpsc::channel(1);
        let effects = GuildEffects::new(requests, Arc::default());
        effects.show("a line");
        assert!(!effects.attach("maps.draw", &Attachment::picture(3)));
    }
}

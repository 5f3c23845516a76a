//! Limits on unasked messages of a server: open questions, their size, and the reading rate.
//! [`Guarded`] is a transport that enforces them and disconnects an offending server with a reason;
//! [`Traffic`] holds the counts that lists show. List changes end here as a flag, however often
//! they are announced. Only a server that sends unasked messages can delay its own answers.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, RequestId, ServerNotification},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Serialize;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::Notices;
use crate::domain::{one_line, redact};

/// Most open questions of a server.
pub const OPEN: usize = 16;
/// Longest wait for an open question's answer before a further one disconnects the server.
const PATIENCE: Duration = Duration::from_secs(1);
/// Largest question, in bytes.
const LARGEST: usize = 1024 * 1024;
/// Sustained rate of unasked messages per second, in units of [`PIECE`] bytes.
const PACE: u32 = 200;
/// Burst after silence.
const BURST: u32 = 400;
/// A longer message counts as several.
const PIECE: usize = 4 * 1024;
/// Longest message shown, in characters.
const SHOWN: usize = 2_000;

#[derive(Debug, Default)]
pub struct Traffic {
    open: Mutex<Vec<RequestId>>,
    answered: Notify,
    /// Our open requests.
    awaited: AtomicUsize,
    unasked: AtomicU64,
    left: OnceLock<String>,
}

impl Traffic {
    pub fn open(&self) -> usize {
        self.ids().len()
    }

    /// Unasked messages received.
    pub fn unasked(&self) -> u64 {
        self.unasked.load(Ordering::Relaxed)
    }

    /// Reason we disconnected; its text begins with "it", meaning the server.
    pub fn left(&self) -> Option<&str> {
        self.left.get().map(String::as_str)
    }

    /// Reason the question `id` cannot be accepted now.
    fn no_room(&self, id: &RequestId) -> Option<String> {
        let open = self.ids();
        if open.contains(id) {
            let id = one_line(&id.to_string(), 40);
            return Some(format!("it used the request id '{id}' twice"));
        }
        (open.len() >= OPEN).then(|| {
            let asked = OPEN + 1;
            format!("it sent {asked} requests at once without taking an answer (at most {OPEN})")
        })
    }

    fn ids(&self) -> MutexGuard<'_, Vec<RequestId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, id: &RequestId) {
        self.ids().retain(|open| open != id);
        self.answered.notify_one();
    }
}

pub struct Guarded<T> {
    pub inner: T,
    pub traffic: Arc<Traffic>,
    /// Receives list changes.
    pub notices: Arc<Notices>,
    /// Cancelled when the server is disconnected.
    pub lost: CancellationToken,
    /// Logs every message under this name.
    pub shown_as: Option<Arc<str>>,
    /// Limits the reading rate of unasked messages.
    pub pace: Pace,
    /// A question above the limit, and its deadline.
    pub waiting: Option<(RxJsonRpcMessage<RoleClient>, Instant)>,
}

/// Token bucket of unasked messages.
pub struct Pace {
    left: f64,
    at: Instant,
}

impl Pace {
    pub fn new() -> Self {
        Self { left: f64::from(BURST), at: Instant::now() }
    }

    fn take(&mut self, bytes: usize) {
        let pieces = u32::try_from(bytes / PIECE).unwrap_or(u32::MAX);
        self.refill();
        self.left -= 1.0 + f64::from(pieces);
    }

    fn refill(&mut self) {
        let now = Instant::now();
        let earned = now.duration_since(self.at).as_secs_f64() * f64::from(PACE);
        self.left = (self.left + earned).min(f64::from(BURST));
        self.at = now;
    }

    /// Earliest time to read the next one; `None`: now.
    fn next(&self) -> Option<Instant> {
        (self.left < 0.0).then(|| self.at + Duration::from_secs_f64(-self.left / f64::from(PACE)))
    }
}

/// Decision about a received message.
enum Verdict {
    Deliver,
    /// Already handled.
    Done,
    /// Waits for another question's answer.
    TooMany,
    Leave(String),
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Guarded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.show("to the server", &message);
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) => {
                self.traffic.awaited.fetch_add(1, Ordering::Relaxed);
                None
            }
            JsonRpcMessage::Notification(_) => None,
        };
        let (sent, traffic) = (self.inner.send(message), Arc::clone(&self.traffic));
        async move {
            let sent = sent.await;
            // It counts as open until its answer is sent.
            if let Some(id) = answered {
                traffic.answered(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.next_waiting().await? {
                return Some(message);
            }
            self.pace.refill();
            if let Some(then) = self.pace.next() {
                sleep_until(then).await;
            }
            let message = self.inner.receive().await?;
            self.show("from the server", &message);
            match self.judge(&message) {
                Verdict::Deliver => return Some(message),
                Verdict::Done => {}
                Verdict::TooMany => self.waiting = Some((message, Instant::now() + PATIENCE)),
                Verdict::Leave(reason) => return self.leave(reason),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.waiting = None;
        self.inner.close().await
    }
}

impl<T> Guarded<T> {
    /// The waiting question once another is answered; `None`: disconnected. Cancel safe.
    async fn next_waiting(&mut self) -> Option<Option<RxJsonRpcMessage<RoleClient>>> {
        let Some((JsonRpcMessage::Request(request), until)) = &self.waiting else {
            return Some(None);
        };
        let (id, until) = (request.id.clone(), *until);
        while let Some(reason) = self.traffic.no_room(&id) {
            if timeout_at(until, self.traffic.answered.notified()).await.is_err() {
                return self.leave(reason);
            }
        }
        self.traffic.ids().push(id);
        Some(self.waiting.take().map(|(message, _)| message))
    }

    fn leave<R>(&mut self, reason: String) -> Option<R> {
        // The first reason wins.
        let _ = self.traffic.left.set(reason);
        self.waiting = None;
        self.lost.cancel();
        None
    }

    fn judge(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> Verdict {
        match message {
            JsonRpcMessage::Request(request) => {
                let bytes = self.unasked(message);
                if bytes > LARGEST {
                    let kib = bytes >> 10;
                    let most = LARGEST >> 10;
                    return Verdict::Leave(format!(
                        "it sent a request of {kib} KiB (at most {most})"
                    ));
                }
                if self.traffic.no_room(&request.id).is_some() {
                    return Verdict::TooMany;
                }
                self.traffic.ids().push(request.id.clone());
                Verdict::Deliver
            }
            JsonRpcMessage::Notification(notification) => {
                self.unasked(message);
                self.noticed(&notification.notification)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                let awaited = &self.traffic.awaited;
                let less = |count: usize| count.checked_sub(1);
                if awaited.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
                    self.unasked(message);
                }
                Verdict::Deliver
            }
        }
    }

    fn noticed(&self, notification: &ServerNotification) -> Verdict {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => self.notices.tools_changed(),
            ServerNotification::ResourceListChangedNotification(_)
            | ServerNotification::ResourceUpdatedNotification(_) => {
                self.notices.resources_changed();
            }
            ServerNotification::PromptListChangedNotification(_) => {}
            // A cancelled question still gets an answer, so it counts until then.
            ServerNotification::CancelledNotification(cancelled)
                if cancelled
                    .params
                    .request_id
                    .as_ref()
                    .is_some_and(|id| self.traffic.ids().contains(id)) => {}
            _ => return Verdict::Deliver,
        }
        Verdict::Done
    }

    /// Counts an unasked message; returns its size.
    fn unasked(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> usize {
        let mut size = Size(0);
        let _ = serde_json::to_writer(&mut size, message);
        self.traffic.unasked.fetch_add(1, Ordering::Relaxed);
        self.pace.take(size.0);
        size.0
    }

    fn show(&self, direction: &'static str, message: &impl Serialize) {
        let Some(server) = &self.shown_as else { return };
        let Ok(message) = serde_json::to_value(message) else { return };
        let message = redact::json(&message).to_string();
        let pii_message = one_line(&redact::text(&message), SHOWN);
        tracing::info!(server = &**server, direction, pii_message, "message");
    }
}

/// Counts written bytes.
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use serde_json::json;

    use super::*;

    /// A server that has sent all it has to say, and reads nothing.
    struct Deaf(VecDeque<RxJsonRpcMessage<RoleClient>>);

    impl Transport<RoleClient> for Deaf {
        type Error = io::Error;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::pending()
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.0.pop_front()
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn guarded(messages: impl IntoIterator<Item = serde_json::Value>) -> Guarded<Deaf> {
        let messages = messages.into_iter().map(|it| serde_json::from_value(it).expect("one"));
        Guarded {
            inner: Deaf(messages.collect()),
            traffic: Arc::default(),
            notices: Arc::default(),
            lost: CancellationToken::new(),
            shown_as: None,
            pace: Pace::new(),
            waiting: None,
        }
    }

    fn ping(id: usize) -> serde_json::Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    async fn count(guarded: &mut Guarded<Deaf>) -> usize {
        let mut count = 0;
        while guarded.receive().await.is_some() {
            count += 1;
        }
        count
    }

    #[tokio::test(start_paused = true)]
    async fn server_with_too_many_open_requests_is_dropped() {
        let mut flood = guarded((0..1_000_000).map(ping).take(10_000));
        assert_eq!(count(&mut flood).await, OPEN);
        let left = flood.traffic.left().expect("a reason");
        assert!(left.contains("17 requests at once"), "{left}");
        assert!(flood.lost.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn one_number_is_good_for_one_question() {
        let mut twice = guarded([ping(1), ping(1)]);
        assert_eq!(count(&mut twice).await, 1);
        assert_eq!(twice.traffic.left(), Some("it used the request id '1' twice"));
    }

    #[tokio::test(start_paused = true)]
    async fn change_notices_are_merged_and_throttled() {
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
        let mut storm = guarded(vec![changed; 10_400]);
        let before = Instant::now();
        assert_eq!(count(&mut storm).await, 0);
        assert_eq!(storm.notices.take(), (true, false));
        assert_eq!(storm.traffic.unasked(), 10_400);
        assert!(before.elapsed() >= Duration::from_secs(49), "{:?}", before.elapsed());
        assert_eq!(storm.traffic.left(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn question_of_many_bytes_is_none() {
        let params = json!({"message": "x".repeat(LARGEST), "requestedSchema":
            {"type": "object", "properties": {}}});
        let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create",
            "params": params});
        let mut huge = guarded([ask]);
        assert_eq!(count(&mut huge).await, 0);
        let left = huge.traffic.left().expect("a reason");
        assert!(left.contains("(at most 1024)"), "{left}");
    }
}

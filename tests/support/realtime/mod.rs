//! A loopback OpenAI Realtime for tests: `/v1/realtime?model=...`.
//!
//! Entry types: [`RealtimeServer`], [`Answer`], [`Fault`]. Answers are scripted (`answer.rs`) and paid for
//! (`bill.rs`); everything that comes is recorded. It runs on a thread of its own, so paused time in a
//! test does not touch it.
//! **Never**: takes what the real service would refuse (`check.rs`).

mod answer;
mod bill;
mod check;
mod playing;
mod talk;

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request, Response},
    http,
};

use super::own_thread::OwnThread;
pub use answer::Answer;
pub use bill::{Prices, Usage};

/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(60);

/// A running service; it ends when dropped.
pub struct RealtimeServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Model of the query.
    pub model: String,
    /// Why the handshake was refused.
    pub refused: Option<String>,
    /// Events of the client, in order; sound is left out of them.
    pub orders: Vec<Value>,
    /// What the service refused or would not have understood, as code and message.
    pub mistakes: Vec<String>,
    /// Instructions, each time they were set.
    pub instructions: Vec<String>,
    /// Names of the tools, each time they were declared.
    pub declared: Vec<Vec<String>>,
    /// Voice that was asked for last.
    pub voice: Option<String>,
    /// Messages in writing, as role and text.
    pub items: Vec<(String, String)>,
    /// All sound that was appended, 24 kHz mono.
    pub sound: Vec<i16>,
    /// Seconds of each utterance that was committed.
    pub committed: Vec<f64>,
    /// Seconds from the first sound of each of them to its commit.
    pub took: Vec<f64>,
    /// Clears of the buffer.
    pub cleared: usize,
    /// Results of calls, as call id and output.
    pub results: Vec<(String, String)>,
    /// Cuts of answers, as item and milliseconds.
    pub truncations: Vec<(String, u64)>,
    /// Cancelled answers.
    pub cancels: usize,
    /// Answers that were begun.
    pub answers: usize,
    /// Reason of the end, once the connection has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// Seconds of sound that were appended.
    pub fn seconds(&self) -> f64 {
        self.sound.len() as f64 / f64::from(answer::RATE)
    }

    /// Loudness of all that was appended, 0 to 1.
    pub fn level(&self) -> f64 {
        let squares: f64 = self.sound.iter().map(|s| (f64::from(*s) / 32_768.0).powi(2)).sum();
        (squares / self.sound.len().max(1) as f64).sqrt()
    }

    /// Whether a message of `role` has `text` in it.
    pub fn has_item(&self, role: &str, text: &str) -> bool {
        self.items.iter().any(|(by, said)| by == role && said.contains(text))
    }

    /// Events of this type.
    pub fn ordered(&self, kind: &str) -> usize {
        self.orders.iter().filter(|order| order["type"] == kind).count()
    }
}

/// A fault of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Works well.
    None,
    /// The handshake is refused with this status.
    Refuse(u16),
    /// The handshake succeeds; nothing is ever said.
    Mute,
    /// The first `session.update` is refused.
    RefuseSetup,
    /// The session is as old as it may be after its first whole answer: an error, then a close with 1001.
    Expires,
    /// Like [`Self::Expires`], without the error or a reason.
    Closes,
    /// The answer to a request for the beta form: an error, then a close with 4000.
    Retired,
}

struct Shared {
    key: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    answers: VecDeque<Answer>,
    otherwise: Option<Answer>,
    faults: VecDeque<Fault>,
    /// The fault of connections without one of their own.
    always: Option<Fault>,
    seen: Vec<Seen>,
    /// Answers of all connections.
    answered: usize,
    billed: Vec<Usage>,
}

impl RealtimeServer {
    /// A service on a free port that wants `key`.
    pub fn start(key: &str) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { key: key.to_owned(), state, changed });
        let serving = Arc::clone(&shared);
        let thread = OwnThread::serving(move |listener| serve(listener, serving));
        Self { thread, shared }
    }

    /// The address to configure ("http://127.0.0.1:PORT/v1").
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.thread.address)
    }

    /// Scripts the next answer that has no script yet; answers without one say "Aye, friend.".
    pub fn push(&self, answer: Answer) {
        self.shared.state().answers.push_back(answer);
    }

    /// Scripts all answers beyond those of [`Self::push`].
    pub fn otherwise(&self, answer: Answer) {
        self.shared.state().otherwise = Some(answer);
    }

    /// Scripts a fault of the next connection that has none yet.
    pub fn fault(&self, fault: Fault) {
        self.shared.state().faults.push_back(fault);
    }

    /// Scripts a fault of all connections that have none of their own.
    pub fn always(&self, fault: Fault) {
        self.shared.state().always = Some(fault);
    }

    /// Everything that came, by connections.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// The connections that were not refused.
    pub fn sessions(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.refused.is_none()).collect()
    }

    /// Everything that came, as soon as `is_met`; fails after [`BOUND`].
    #[track_caller]
    pub fn until(&self, is_met: impl Fn(&[Seen]) -> bool) -> Vec<Seen> {
        let state = self.shared.state();
        let waiting =
            self.shared.changed.wait_timeout_while(state, BOUND, |state| !is_met(&state.seen));
        let (state, waited) = waiting.expect("no panic while locked");
        assert!(!waited.timed_out(), "never happened: {:#?}", brief(&state.seen));
        state.seen.clone()
    }

    /// Everything that came, once all connections have ended.
    #[track_caller]
    pub fn ended(&self) -> Vec<Seen> {
        self.until(|seen| seen.iter().all(|it| it.refused.is_some() || it.ended.is_some()))
    }

    /// Tokens billed so far, an entry for each answer; call it when all connections have ended.
    pub fn billed(&self) -> Vec<Usage> {
        self.shared.state().billed.clone()
    }

    /// What the tokens so far cost.
    pub fn bill(&self, prices: &Prices) -> f64 {
        self.billed().iter().map(|usage| usage.cost(prices)).sum()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while locked")
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.notify_all();
        changed
    }
}

/// The same without sound, which nobody can read.
fn brief(seen: &[Seen]) -> Vec<Seen> {
    seen.iter().map(|it| Seen { sound: Vec::new(), ..it.clone() }).collect()
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(connection(stream, Arc::clone(&shared)));
    }
}

/// One connection, from its handshake to its end.
async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let mut agreed = None;
    let shaking = Arc::clone(&shared);
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let shake = |request: &Request, response: Response| {
        let model = check::model(request.uri()).unwrap_or_default();
        let (number, fault) = shaking.change(|state| {
            state.seen.push(Seen { model, ..Seen::default() });
            (state.seen.len() - 1, state.faults.pop_front().or(state.always).unwrap_or(Fault::None))
        });
        let scripted = match fault {
            Fault::Refuse(status) => Some((status, "scripted", "refused by the test".to_owned())),
            _ => None,
        };
        if let Some((status, code, message)) =
            scripted.or_else(|| check::handshake(request, &shaking.key))
        {
            shaking.change(|state| state.seen[number].refused = Some(message.clone()));
            return Err(refusal(status, code, &message));
        }
        let is_retired = request.headers().contains_key("openai-beta");
        agreed = Some((number, if is_retired { Fault::Retired } else { fault }));
        Ok(response)
    };
    let socket = tokio_tungstenite::accept_hdr_async(stream, shake).await;
    let Some((number, fault)) = agreed else { return };
    let ended = match socket {
        Ok(socket) => talk::Talk::new(socket, Arc::clone(&shared), (number, fault)).serve().await,
        Err(error) => error.to_string(),
    };
    shared.change(|state| state.seen[number].ended = Some(ended));
}

/// A refused handshake in OpenAI's shape.
fn refusal(status: u16, code: &str, message: &str) -> ErrorResponse {
    let kind = "invalid_request_error";
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    let text = json!({ "error": error }).to_string();
    let answer = http::Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("content-length", text.len().to_string())
        .header("connection", "close");
    answer.body(Some(text)).expect("a response")
}

//! A loopback Deepgram for tests: `/v1/listen` (Nova) and `/v2/listen` (Flux).
//!
//! Entry types: [`DeepgramServer`], [`Fault`]. What is understood is scripted, and comes when the sound
//! does: a word for each piece of voice, the rest at the end. It runs on a thread of its own, so paused
//! time in a test does not touch it.
//! **Never**: takes what the real service would refuse (`query.rs`, `nova.rs`, `flux.rs`).

mod flux;
mod nova;
mod query;
mod sound;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request, Response},
        http,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::own_thread::OwnThread;
use query::Asked;

/// A socket without sound or a sign of life is closed after so long.
const QUIET: Duration = Duration::from_secs(10);
/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(60);

/// A running service; it ends when dropped.
pub struct DeepgramServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// "/v1/listen".
    pub path: String,
    /// Parameters of the query, in order.
    pub query: Vec<(String, String)>,
    /// Reason for its refusal.
    pub refused: Option<String>,
    /// Seconds of sound that came.
    pub seconds: f64,
    /// Messages of sound, by their bytes.
    pub messages: Vec<usize>,
    /// Orders, as they came.
    pub orders: Vec<Value>,
    /// Reason for its end, once it has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// The values of `key`.
    pub fn values(&self, key: &str) -> Vec<&str> {
        self.query.iter().filter(|(known, _)| known == key).map(|(_, it)| it.as_str()).collect()
    }

    /// Orders of this type.
    pub fn ordered(&self, kind: &str) -> usize {
        self.orders.iter().filter(|order| order["type"] == kind).count()
    }
}

/// Fault of one socket.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing does.
    None,
    /// The handshake is answered by this status, these headers and this body.
    Refuse(u16, Vec<(&'static str, &'static str)>, Value),
    /// It takes sound and says nothing, from so many seconds of sound on.
    Stall(f64),
    /// The connection is gone after so many seconds of sound.
    Cut(f64),
    /// It is gone when the next utterance begins, a second or more after the first.
    Gone,
    /// It is closed after so many seconds of sound: with a code and a reason, or without.
    Close(f64, Option<(u16, &'static str)>),
    /// It gives up with an `Error` of this code.
    Error(f64, &'static str),
    /// Many unknown messages, in text and binary frames.
    Strange,
    /// Seconds of sound, a message, and how often it is then sent without a pause.
    Flood(f64, Value, usize),
}

struct Shared {
    key: String,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Utterances still to be said, in segments between pauses.
    script: VecDeque<VecDeque<String>>,
    faults: VecDeque<Fault>,
    seen: Vec<Seen>,
    /// Ends of turns are held back.
    holds: bool,
}

impl DeepgramServer {
    /// A service on a free port that wants `key`.
    pub fn start(key: &str) -> Self {
        let (state, changed) = (Mutex::default(), Notify::new());
        let shared = Arc::new(Shared { key: key.to_owned(), state, changed });
        let serving = Arc::clone(&shared);
        let thread = OwnThread::serving(move |listener| serve(listener, serving));
        Self { thread, shared }
    }

    /// The address to configure ("http://127.0.0.1:PORT").
    pub fn base_url(&self) -> String {
        format!("http://{}", self.thread.address)
    }

    /// The line of `providers` that hears with it.
    pub fn entry(&self) -> String {
        let (address, key) = (self.base_url(), &self.shared.key);
        format!(
            "  stt: {{ name: deepgram, base_url: \"{address}\", api_key: {key}, model: nova-3, \
             free: true }}\n"
        )
    }

    /// Adds an utterance, with a pause between two segments.
    pub fn says(&self, segments: &[&str]) {
        let segments = segments.iter().map(|it| (*it).to_owned()).collect();
        self.shared.state().script.push_back(segments);
    }

    /// Utterances of players, one after the other, without a pause in any.
    pub fn says_each(&self, utterances: &[&str]) {
        utterances.iter().for_each(|utterance| self.says(&[utterance]));
    }

    /// Fault of the next socket that has none yet.
    pub fn fault(&self, fault: Fault) {
        self.shared.state().faults.push_back(fault);
    }

    /// Holds ends of turns back, or lets them go.
    pub fn holds(&self, holds: bool) {
        self.shared.change(|state| state.holds = holds);
    }

    /// Everything that came, by sockets.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// Resolves when `is_met`; fails after half a minute.
    pub async fn until(&self, is_met: impl Fn(&[Seen]) -> bool) {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if is_met(&self.shared.state().seen) {
                    return;
                }
                changed.await;
            }
        };
        let met = tokio::time::timeout(BOUND, waiting).await;
        assert!(met.is_ok(), "never happened: {:#?}", self.seen());
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while locked")
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.notify_waiters();
        changed
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(talk(stream, Arc::clone(&shared)));
    }
}

/// One connection, from its handshake to its end.
async fn talk(stream: TcpStream, shared: Arc<Shared>) {
    let mut agreed = None;
    let shaking = Arc::clone(&shared);
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let shake = |request: &Request, response: Response| {
        let asked = Asked::of(request);
        let (number, fault) = shaking.change(|state| {
            let (path, query) = (asked.path.clone(), asked.query.clone());
            state.seen.push(Seen { path, query, ..Seen::default() });
            (state.seen.len() - 1, state.faults.pop_front().unwrap_or(Fault::None))
        });
        let refused = |status: u16, headers: &[(&str, &str)], body: &Value| {
            shaking.change(|state| state.seen[number].refused = Some(body.to_string()));
            Err(refusal(status, headers, body))
        };
        if let Fault::Refuse(status, headers, body) = &fault {
            return refused(*status, headers, body);
        }
        if let Some((status, code, message)) = asked.refused(&shaking.key) {
            let body = json!({"err_code": code, "err_msg": message, "request_id": "r-1"});
            return refused(status, &[("dg-error", &message)], &body);
        }
        agreed = Some((number, asked, fault));
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, shake).await else { return };
    let Some((number, asked, fault)) = agreed else { return };
    let line = Line { socket, shared: Arc::clone(&shared), number, fault, said: 0 };
    let ended = match asked.path.as_str() {
        "/v1/listen" => nova::serve(line, asked).await,
        _ => flux::serve(line, asked).await,
    };
    shared.change(|state| state.seen[number].ended = Some(ended));
}

fn refusal(status: u16, headers: &[(&str, &str)], body: &Value) -> ErrorResponse {
    let text = body.to_string();
    let mut answer = http::Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("content-length", text.len().to_string())
        .header("connection", "close");
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(Some(text)).expect("a response")
}

/// One socket.
struct Line {
    socket: WebSocketStream<TcpStream>,
    shared: Arc<Shared>,
    number: usize,
    fault: Fault,
    /// Messages so far.
    said: u64,
}

/// Message of a client.
enum Heard {
    /// 16-bit samples.
    Sound(Vec<i16>),
    /// JSON with a type.
    Order(Value),
    /// A text that is none.
    Nonsense,
    /// It has gone, or is to go, and how.
    Gone(String),
    /// Nothing, for too long.
    Quiet,
}

impl Line {
    /// The next message; `Quiet` if none comes until `until`.
    async fn next(&mut self, until: tokio::time::Instant) -> Heard {
        loop {
            let message = tokio::select! {
                message = self.socket.next() => message,
                () = tokio::time::sleep_until(until) => return Heard::Quiet,
            };
            match message {
                Some(Ok(Message::Binary(bytes))) if bytes.is_empty() => {
                    return Heard::Gone("an empty message".to_owned());
                }
                Some(Ok(Message::Binary(bytes))) => {
                    let pairs = bytes.chunks_exact(2);
                    let samples: Vec<i16> =
                        pairs.map(|two| i16::from_le_bytes([two[0], two[1]])).collect();
                    self.shared.change(|state| {
                        let seen = &mut state.seen[self.number];
                        seen.seconds += samples.len() as f64 / 16_000.0;
                        seen.messages.push(bytes.len());
                    });
                    return Heard::Sound(samples);
                }
                Some(Ok(Message::Text(text))) => {
                    let Ok(order) = serde_json::from_str::<Value>(&text) else {
                        return Heard::Nonsense;
                    };
                    let noted = order.clone();
                    self.shared.change(|state| state.seen[self.number].orders.push(noted));
                    return if order["type"].is_string() {
                        Heard::Order(order)
                    } else {
                        Heard::Nonsense
                    };
                }
                Some(Ok(Message::Close(_))) | None => {
                    return Heard::Gone("closed by the client".to_owned());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Heard::Gone(error.to_string()),
            }
        }
    }

    /// Seconds of sound that came.
    fn seconds(&self) -> f64 {
        self.shared.state().seen[self.number].seconds
    }

    /// Applies the fault if it is due, and returns how the socket ended, if it did.
    async fn failed(&mut self) -> Option<String> {
        let seconds = self.seconds();
        match self.fault.clone() {
            Fault::Cut(after) if seconds >= after => Some("cut".to_owned()),
            Fault::Close(after, frame) if seconds >= after => {
                let frame = frame.map(|(code, reason)| CloseFrame {
                    code: CloseCode::from(code),
                    reason: reason.into(),
                });
                let _ = self.socket.close(frame).await;
                Some("closed".to_owned())
            }
            Fault::Error(after, code) if seconds >= after => {
                let error =
                    json!({"type": "Error", "code": code, "description": "a fault of tests"});
                self.say(error).await;
                let _ = self.socket.close(None).await;
                Some("failed".to_owned())
            }
            Fault::Flood(after, message, count) if seconds >= after => {
                self.fault = Fault::None;
                for _ in 0..count {
                    self.say(message.clone()).await;
                }
                None
            }
            _ => None,
        }
    }

    /// True if it says nothing any more.
    fn stalls(&self) -> bool {
        matches!(self.fault, Fault::Stall(after) if self.seconds() >= after)
    }

    /// Says something, and much else where that is its fault.
    async fn say(&mut self, message: Value) {
        if self.stalls() {
            return;
        }
        let bytes = message.to_string();
        if matches!(self.fault, Fault::Strange) {
            let strange = json!({"type": "Mood", "value": {"of": "the service"}}).to_string();
            let _ = self.socket.send(Message::text(strange)).await;
            let _ = self.socket.send(Message::text("[]")).await;
            let _ = self.socket.send(Message::Ping(Vec::new().into())).await;
            let _ = self.socket.send(Message::binary(bytes.into_bytes())).await;
        } else {
            let _ = self.socket.send(Message::text(bytes)).await;
        }
        self.said += 1;
    }

    /// Closes with a code of the protocol and a reason.
    async fn close(&mut self, code: u16, reason: &str) -> String {
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.to_owned().into() };
        let _ = self.socket.close(Some(frame)).await;
        format!("{code} {reason}")
    }

    /// The segments of the next utterance.
    fn utterance(&self) -> VecDeque<String> {
        self.shared.change(|state| state.script.pop_front()).unwrap_or_default()
    }

    /// True if ends of turns are held back.
    fn holds(&self) -> bool {
        self.shared.state().holds
    }
}

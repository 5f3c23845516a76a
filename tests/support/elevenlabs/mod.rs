//! A loopback ElevenLabs for tests: the multi-context socket, and the account's voices.
//!
//! Entry types: [`ElevenLabsServer`], [`Fault`]. Each character sounds for 60 ms; sound comes at once, in
//! chunks with the times of their characters. It runs on a thread of its own, so paused time in a test does
//! not touch it. **Never**: takes what the real service would refuse (`session.rs`).

mod session;
mod voices;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request, Response},
    http,
};

use super::own_thread::OwnThread;
use session::Session;

/// A voice of the account.
pub const GEORGE: &str = "JBFqnCBsd6RMkjVDRZzb";
/// Sound of a character, in milliseconds.
pub const CHARACTER: usize = 60;
/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(60);

/// A running service; it ends when dropped.
pub struct ElevenLabsServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// "/v1/text-to-speech/VOICE/multi-stream-input".
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Reason for its refusal, or for that of a message.
    pub refused: Option<String>,
    /// As they came.
    pub messages: Vec<Value>,
    /// Characters.
    pub billed: usize,
    /// Reason for its end, once it has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// Texts to be spoken.
    pub fn said(&self) -> Vec<&str> {
        let texts = self.messages.iter().filter_map(|it| it["text"].as_str());
        texts.map(str::trim).filter(|text| !text.is_empty()).collect()
    }

    /// Contexts that were closed.
    pub fn closed(&self) -> usize {
        self.messages.iter().filter(|it| it["close_context"] == true).count()
    }
}

/// Fault of one socket.
#[derive(Clone, Debug, Default)]
pub enum Fault {
    #[default]
    None,
    /// The handshake is answered by this status, these headers and this body.
    Refuse(u16, Vec<(&'static str, &'static str)>, Value),
    /// The connection is gone after this number of chunks.
    Cut(usize),
    /// Closed after this number of chunks: with a code and a reason, or without.
    Close(usize, Option<(u16, &'static str)>),
    /// Nothing comes after this number of chunks until the context is closed.
    Hold(usize),
    /// Like [`Fault::Hold`], and a closed context sounds once more before it ends.
    Late(usize),
    /// An error frame with this label in place of sound.
    Error(&'static str),
    /// The connection is gone when a second context is opened.
    Gone,
    /// Many unknown messages, in text and binary frames.
    Strange,
}

struct Shared {
    key: String,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    faults: VecDeque<Fault>,
    /// Of all sockets without one of their own.
    others: Fault,
    seen: Vec<Seen>,
}

impl ElevenLabsServer {
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

    /// Fault of the next socket that has none yet.
    pub fn fault(&self, fault: Fault) {
        self.shared.change(|state| state.faults.push_back(fault));
    }

    /// Fault of all sockets that have none of their own.
    pub fn fails(&self, fault: Fault) {
        self.shared.change(|state| state.others = fault);
    }

    /// Everything that came, by handshakes.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// Resolves when `is_met`; fails after a minute.
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
        tokio::spawn(connection(stream, Arc::clone(&shared)));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let mut begins = [0; 14];
    let read = stream.peek(&mut begins).await.unwrap_or_default();
    if begins[..read].starts_with(b"GET /v2/voices") {
        voices::answer(stream, &shared.key).await;
    } else {
        talk(stream, shared).await;
    }
}

/// One socket, from its handshake to its end.
async fn talk(stream: TcpStream, shared: Arc<Shared>) {
    let mut agreed = None;
    let shaking = Arc::clone(&shared);
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let shake = |request: &Request, response: Response| {
        let url = Url::parse(&format!("http://localhost{}", request.uri())).expect("an address");
        let query: Vec<(String, String)> =
            url.query_pairs().map(|(key, it)| (key.into_owned(), it.into_owned())).collect();
        let path = url.path().to_owned();
        let (number, fault) = shaking.change(|state| {
            state.seen.push(Seen { path: path.clone(), query: query.clone(), ..Seen::default() });
            (state.seen.len() - 1, state.faults.pop_front().unwrap_or_else(|| state.others.clone()))
        });
        let refuse = |status: u16, headers: &[(&str, &str)], body: &Value| {
            shaking.change(|state| state.seen[number].refused = Some(body.to_string()));
            Err(refusal(status, headers, body))
        };
        if let Fault::Refuse(status, headers, body) = &fault {
            return refuse(*status, headers, body);
        }
        let key = request.headers().get("xi-api-key").and_then(|it| it.to_str().ok());
        if key != Some(shaking.key.as_str()) {
            return refuse(401, &[], &detail("invalid_api_key", "Invalid API key"));
        }
        match session::asked(&path, &query) {
            Ok(voice) => agreed = Some((number, fault, voice)),
            Err((status, label)) => return refuse(status, &[], &detail(label, "refused")),
        }
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, shake).await else { return };
    let Some((number, fault, voice)) = agreed else { return };
    let ended = Session::new(socket, Arc::clone(&shared), number, fault).serve(&voice).await;
    shared.change(|state| state.seen[number].ended = Some(ended));
}

fn detail(status: &str, message: &str) -> Value {
    json!({"detail": {"status": status, "message": message}})
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

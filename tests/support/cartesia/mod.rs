//! A loopback Cartesia for tests: the socket of Sonic, and the list of voices.
//!
//! Entry types: [`CartesiaServer`], [`Fault`]. Each character sounds for 60 ms; sound comes at once, in chunks,
//! before the times of its words. It runs on a thread of its own, so paused time in a test does not touch it.
//! **Never**: takes what the real service would refuse (`request.rs`, `session.rs`).

mod request;
mod session;
mod voices;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request, Response},
    http,
};

use super::own_thread::OwnThread;
use session::Session;

/// A voice of the service.
pub const BARKEEP: &str = "a0e99841-438c-4a64-b679-ae501e7d6091";
/// Sound of a character, in milliseconds.
pub const CHARACTER: usize = 60;
/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(60);
/// Version in which a voice has a mode.
const OLDER: &str = "2026-03-01";
const NEWER: &str = "2026-08-14";

/// A running service; it ends when dropped.
pub struct CartesiaServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Reason for its refusal, or for that of a message.
    pub refused: Option<String>,
    /// As they came.
    pub messages: Vec<Value>,
}

impl Seen {
    /// Texts to be spoken.
    pub fn said(&self) -> Vec<&str> {
        let texts = self.messages.iter().filter_map(|it| it["transcript"].as_str());
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Contexts that were cancelled.
    pub fn cancelled(&self) -> usize {
        self.messages.iter().filter(|it| it["cancel"] == true).count()
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
    /// Nothing comes after this number of chunks until the context is cancelled, which is confirmed.
    Hold(usize),
    /// Like [`Fault::Hold`], but a cancelled context sounds once more, and its end is not confirmed.
    Late(usize),
    /// An error with this status and this code in place of sound.
    Error(u16, Option<&'static str>),
    /// Phonemes that were not asked for, and many unknown messages, in text and binary frames.
    Strange,
}

struct Shared {
    key: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    faults: VecDeque<Fault>,
    /// Of all sockets without one of their own.
    others: Fault,
    seen: Vec<Seen>,
}

impl CartesiaServer {
    /// A service on a free port that wants `key`.
    pub fn start(key: &str) -> Self {
        let shared = Arc::new(Shared { key: key.to_owned(), state: Mutex::default() });
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
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while locked")
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state())
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(connection(stream, Arc::clone(&shared)));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let mut begins = [0; 11];
    let read = stream.peek(&mut begins).await.unwrap_or_default();
    if begins[..read].starts_with(b"GET /voices") {
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
        let (number, fault) = shaking.change(|state| {
            state.seen.push(Seen::default());
            (state.seen.len() - 1, state.faults.pop_front().unwrap_or_else(|| state.others.clone()))
        });
        let refuse = |status: u16, headers: &[(&str, &str)], body: &Value| {
            shaking.change(|state| state.seen[number].refused = Some(body.to_string()));
            Err(refusal(status, headers, body))
        };
        if let Fault::Refuse(status, headers, body) = &fault {
            return refuse(*status, headers, body);
        }
        match asked(request, &shaking.key) {
            Ok(version) => agreed = Some((number, fault, version)),
            Err((status, message)) => return refuse(status, &[], &error(None, message)),
        }
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, shake).await else { return };
    let Some((number, fault, version)) = agreed else { return };
    Session::new(socket, shared, number, fault).serve(&version).await;
}

/// The version of a handshake, or its refusal.
fn asked(request: &Request, key: &str) -> Result<String, (u16, &'static str)> {
    let url = Url::parse(&format!("http://localhost{}", request.uri())).expect("an address");
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    let keys =
        [header("authorization").and_then(|it| it.strip_prefix("Bearer ")), header("x-api-key")];
    if url.path() != "/tts/websocket" {
        return Err((404, "not found"));
    }
    if !keys.contains(&Some(key)) {
        return Err((401, "Invalid API key"));
    }
    let asked = url.query_pairs().find(|(name, _)| name == "cartesia_version");
    let version = asked.map(|(_, version)| version.into_owned());
    let version = version.or_else(|| header("cartesia-version").map(str::to_owned));
    let version = version.ok_or((400, "Cartesia-Version is missing"))?;
    if [OLDER, NEWER].contains(&version.as_str()) {
        Ok(version)
    } else {
        Err((400, "no such version"))
    }
}

/// Body of a refusal.
fn error(code: Option<&str>, message: &str) -> Value {
    json!({"title": "Refused", "message": message, "error_code": code, "request_id": "r-1"})
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

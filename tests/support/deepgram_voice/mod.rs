//! A loopback Deepgram that speaks, for tests: `/v1/speak` (Aura), `/v2/speak` (Flux TTS) and
//! `GET /v1/models`.
//!
//! Entry types: [`DeepgramVoiceServer`], [`Fault`]. A sentence is a tone as long as its text. It
//! runs on a thread of its own, so paused time in a test does not touch it.
//! **Never**: takes what the real service would refuse (`query.rs`, `aura.rs`, `flux.rs`).

mod aura;
mod flux;
mod line;
mod query;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request, Response},
    http,
};

use super::own_thread::OwnThread;
use line::Line;
use query::{Asked, VOICES};

/// Longest head of a request.
const HEAD: usize = 4 << 10;

/// A running service; it ends when dropped.
pub struct DeepgramVoiceServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// "/v2/speak".
    pub path: String,
    /// Parameters of the query, in order.
    pub query: Vec<(String, String)>,
    /// Reason for its refusal.
    pub refused: Option<String>,
    /// Orders, as they came.
    pub orders: Vec<Value>,
    /// Characters that are billed.
    pub billed: usize,
    /// Sentences that were cancelled.
    pub cancelled: usize,
    /// Reason for its end, once it has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// The first value of `key`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == key).map(|(_, it)| it.as_str())
    }

    /// Texts that came to be spoken.
    pub fn texts(&self) -> Vec<&str> {
        let spoken = self.orders.iter().filter(|order| order["type"] == "Speak");
        spoken.filter_map(|order| order["text"].as_str()).collect()
    }

    /// Orders of this type.
    pub fn ordered(&self, kind: &str) -> usize {
        self.orders.iter().filter(|order| order["type"] == kind).count()
    }
}

/// Fault of one socket. Those of a sentence come after half of its sound.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing does.
    None,
    /// The handshake is answered by this status, these headers and this body.
    Refuse(u16, Vec<(&'static str, &'static str)>, Value),
    /// A sentence is not gone on with until it is cancelled.
    Stall,
    /// The connection is gone.
    Cut,
    /// It is closed: with a code and a reason, or without.
    Close(Option<(u16, &'static str)>),
    /// It gives up with an `Error` of this code.
    Error(&'static str),
    /// Unknown messages come beside its own.
    Strange,
}

pub struct Shared {
    key: String,
    state: Mutex<State>,
}

#[derive(Default)]
pub struct State {
    faults: VecDeque<Fault>,
    seen: Vec<Seen>,
}

impl DeepgramVoiceServer {
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

    /// Everything that came, by sockets.
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
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            match head(&stream).await {
                Some(head) if head.starts_with("GET /v1/models") => {
                    list(stream, &head, &shared).await
                }
                Some(_) => talk(stream, shared).await,
                None => {}
            }
        });
    }
}

/// The head of a request, which stays unread.
async fn head(stream: &TcpStream) -> Option<String> {
    let mut bytes = vec![0; HEAD];
    loop {
        let count = stream.peek(&mut bytes).await.ok().filter(|count| *count > 0)?;
        let head = String::from_utf8_lossy(&bytes[..count]).into_owned();
        if head.contains("\r\n\r\n") || count == HEAD {
            return Some(head);
        }
        tokio::task::yield_now().await;
    }
}

/// Answers the question for voices. The real list has no Flux.
async fn list(mut stream: TcpStream, head: &str, shared: &Shared) {
    let token = format!("authorization: token {}\r\n", shared.key).to_ascii_lowercase();
    let (status, body) = if head.to_ascii_lowercase().contains(&token) {
        ("200 OK", models())
    } else {
        let message = "Invalid credentials.";
        ("401 Unauthorized", json!({"err_code": "INVALID_AUTH", "err_msg": message}))
    };
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: \
         close\r\n\r\n{body}",
        body.len()
    );
    // What is unread would break the connection off.
    let _ = stream.read_exact(&mut vec![0; head.len()]).await;
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn models() -> Value {
    let aura = VOICES.iter().filter(|name| name.starts_with("aura"));
    let tts = aura.map(|name| {
        let language = &name[name.len() - 2..];
        json!({
            "name": name.split('-').nth(2), "canonical_name": name, "architecture": "aura-2",
            "languages": [language, format!("{language}-XX")], "version": "2026-01-01.0",
            "uuid": "u-1",
            "metadata": {"accent": "American", "age": "Adult", "tags": ["feminine", "clear"],
                "use_cases": ["Casual chat"]},
        })
    });
    json!({"stt": [{"name": "general", "canonical_name": "nova-3"}], "tts": tts.collect::<Vec<_>>()})
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
    let line = Line::new(socket, Arc::clone(&shared), number, fault);
    let ended = match asked.is_flux() {
        true => flux::serve(line, &asked).await,
        false => aura::serve(line, &asked).await,
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

//! A loopback service that makes pictures: OpenAI's images address as local servers have it, or Gemini's
//! `generateContent`.
//!
//! Entry types: [`ImageServer`], [`Picture`]. It refuses what the real services refuse (`check.rs`), repeats
//! a wrong key in its refusal, and gives an address unless bytes are asked for.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use super::own_thread::OwnThread;

mod check;
pub mod files;

/// The only key that is let in.
pub const KEY: &str = "sk-pictures-of-a-table-7731";
/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(120);
/// A piece of an answer without an end.
const PIECE: usize = 64 * 1024;

/// The form of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    OpenAi,
    Gemini,
}

/// Answer to one request.
#[derive(Clone)]
pub struct Picture {
    content: Content,
    /// Nothing is sent before.
    go: Option<Arc<Notify>>,
}

#[derive(Clone)]
enum Content {
    /// These bytes, in JSON.
    Bytes(Vec<u8>),
    /// An address of the service's own, where these bytes are.
    Linked(Vec<u8>),
    /// An address of another server.
    Elsewhere(String),
    /// Anything else, and whether it is billed.
    Json(u16, Value),
    /// Too many requests.
    Limited,
    /// Bytes of a picture without an end.
    Endless,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// "POST /v1/images/generations".
    pub line: String,
    /// The body, when it is JSON.
    pub json: Value,
    /// Reason for its refusal.
    pub refused: Option<String>,
}

/// A running service; it ends when dropped.
pub struct ImageServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

struct Shared {
    form: Form,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Picture>,
    /// Answer after the end of the queue; `None`: a small PNG.
    otherwise: Option<Picture>,
    requests: Vec<Asked>,
    /// Requests that were answered, or whose client went away.
    over: usize,
    /// Files at addresses of the service's own.
    linked: Vec<Vec<u8>>,
    billed: u32,
    /// Bytes of the longest answer without an end.
    sent: usize,
}

impl ImageServer {
    /// A service on a free port, which makes a small PNG where nothing else was pushed.
    pub fn start(form: Form) -> Self {
        let shared = Shared { form, state: Mutex::default(), changed: Notify::new() };
        let shared = Arc::new(shared);
        let serving = Arc::clone(&shared);
        let thread = OwnThread::serving(move |listener| serve(listener, serving));
        Self { thread, shared }
    }

    /// Its origin ("http://127.0.0.1:PORT").
    pub fn origin(&self) -> String {
        format!("http://{}", self.thread.address)
    }

    /// The entry under `providers`, with the right key; `more` are further keys.
    pub fn entry(&self, more: &str) -> String {
        let (service, version, model) = match self.shared.form {
            Form::OpenAi => ("openai", "/v1", "ring-painter"),
            Form::Gemini => ("gemini", "", "gemini-nano-banana-2.1"),
        };
        let origin = self.origin();
        format!(
            "  image: {{ service: {service}, model: {model}, base_url: \"{origin}{version}\", api_key: {KEY}{more} }}\n"
        )
    }

    /// Answers the next valid request that has no answer yet.
    pub fn push(&self, picture: Picture) {
        self.shared.state().queue.push_back(picture);
    }

    /// Answers all further requests so.
    pub fn always(&self, picture: Picture) {
        self.shared.state().otherwise = Some(picture);
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.state().requests.clone()
    }

    /// Pictures that were made so far, and cost something.
    pub fn billed(&self) -> u32 {
        self.shared.state().billed
    }

    /// Bytes that were taken of an answer without an end.
    pub fn sent(&self) -> usize {
        self.shared.state().sent
    }

    /// Resolves when `count` requests came; fails after [`BOUND`].
    pub async fn received(&self, count: usize) {
        self.until(|state| state.requests.len() >= count).await;
    }

    /// Resolves when `count` requests were answered or given up; fails after [`BOUND`].
    pub async fn over(&self, count: usize) {
        self.until(|state| state.over >= count).await;
    }

    async fn until(&self, is_met: impl Fn(&State) -> bool) {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if is_met(&self.shared.state()) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(BOUND, waiting).await.expect("in time");
    }
}

impl Picture {
    /// These bytes, whatever they are.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::of(Content::Bytes(bytes))
    }

    /// These bytes, at an address of the service's own.
    pub fn linked(bytes: Vec<u8>) -> Self {
        Self::of(Content::Linked(bytes))
    }

    /// An address of another service.
    pub fn elsewhere(address: &str) -> Self {
        Self::of(Content::Elsewhere(address.to_owned()))
    }

    /// Any other answer.
    pub fn json(status: u16, body: Value) -> Self {
        Self::of(Content::Json(status, body))
    }

    /// OpenAI's refusal of a prompt.
    pub fn blocked() -> Self {
        let error = json!({"message": "Your request was rejected by the safety system.",
            "type": "image_generation_user_error", "param": null, "code": "moderation_blocked"});
        Self::json(400, json!({ "error": error }))
    }

    /// A candidate of Gemini's with these parts, which ended for this reason.
    pub fn candidate(parts: Value, reason: &str) -> Self {
        let candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0,
            "finishReason": reason});
        Self::json(200, json!({"candidates": [candidate], "usageMetadata": usage(Form::Gemini)}))
    }

    /// Too many requests; the next may come in a minute.
    pub fn limited() -> Self {
        Self::of(Content::Limited)
    }

    /// An answer that never ends.
    pub fn endless() -> Self {
        Self::of(Content::Endless)
    }

    /// Holds the answer until the test notifies `go`.
    pub fn held(self, go: &Arc<Notify>) -> Self {
        Self { go: Some(Arc::clone(go)), ..self }
    }

    fn of(content: Content) -> Self {
        Self { content, go: None }
    }
}

/// A part of Gemini's with a picture in it.
pub fn part(bytes: &[u8], is_thought: bool) -> Value {
    let data = json!({"mimeType": "image/png", "data": STANDARD.encode(bytes)});
    match is_thought {
        true => json!({"inlineData": data, "thought": true}),
        false => json!({ "inlineData": data }),
    }
}

fn usage(form: Form) -> Value {
    match form {
        Form::OpenAi => json!({"input_tokens": 40, "output_tokens": 1_056, "total_tokens": 1_096,
            "input_tokens_details": {"text_tokens": 40, "image_tokens": 0}}),
        Form::Gemini => json!({"promptTokenCount": 40, "candidatesTokenCount": 1_120,
            "totalTokenCount": 1_160}),
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (socket, _) = accepted.expect("a connection");
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    let answered = converse(socket, &shared).await;
                    shared.state().over += 1;
                    shared.changed.notify_waiters();
                    answered
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One request on one connection; `None`: the client went away.
async fn converse(socket: TcpStream, shared: &Shared) -> Option<()> {
    let origin = socket.local_addr().ok()?;
    let mut socket = BufReader::new(socket);
    let (request, key) = read_request(&mut socket).await?;
    if key.as_deref() == Some(KEY) && request.line == shared.list_of_models() {
        let list = json!({"data": [{"id": "another"}], "models": [{"name": "models/another"}]});
        return write(&mut socket, (200, JSON), list.to_string().as_bytes()).await;
    }
    let file = shared.linked(&request.line);
    let refusal = shared.refuse(&request, key.as_deref()).filter(|_| file.is_none());
    let refused = refusal.as_ref().map(|(_, why)| why.clone());
    let wants_bytes = request.json["response_format"] == "b64_json";
    shared.state().requests.push(Asked { refused, ..request });
    shared.changed.notify_waiters();
    if let Some(file) = file {
        return write(&mut socket, (200, "image/png"), &file).await;
    }
    if let Some((status, why)) = refusal {
        return write(&mut socket, (status, JSON), shared.error(status, &why).as_bytes()).await;
    }
    let Picture { content, go } = shared.next();
    if let Some(go) = go {
        tokio::select! {
            // It has nothing to say now: a byte or an end means that it went away.
            _ = socket.fill_buf() => return None,
            () = go.notified() => {}
        }
    }
    let body = match content {
        Content::Limited => return limited(&mut socket).await,
        Content::Endless => return endless(&mut socket, shared).await,
        Content::Json(status, body) => {
            return write(&mut socket, (status, JSON), body.to_string().as_bytes()).await;
        }
        Content::Elsewhere(address) => shared.openai(&json!({ "url": address })),
        Content::Linked(bytes) => shared.openai(&json!({ "url": shared.link(&origin, bytes) })),
        Content::Bytes(bytes) if shared.form == Form::Gemini => shared.gemini(&bytes),
        Content::Bytes(bytes) if wants_bytes => {
            shared.openai(&json!({ "b64_json": STANDARD.encode(bytes) }))
        }
        Content::Bytes(bytes) => shared.openai(&json!({ "url": shared.link(&origin, bytes) })),
    };
    shared.state().billed += 1;
    write(&mut socket, (200, JSON), body.to_string().as_bytes()).await
}

const JSON: &str = "application/json";

impl Shared {
    /// The next answer.
    fn next(&self) -> Picture {
        let mut state = self.state();
        let scripted = state.queue.pop_front().or_else(|| state.otherwise.clone());
        scripted.unwrap_or_else(|| Picture::bytes(files::png()))
    }

    /// The file at an address of the service's own.
    fn linked(&self, line: &str) -> Option<Vec<u8>> {
        let at: usize = line.strip_prefix("GET /files/")?.parse().ok()?;
        self.state().linked.get(at).cloned()
    }

    /// Puts a file where the client can fetch it.
    fn link(&self, origin: &std::net::SocketAddr, bytes: Vec<u8>) -> String {
        let mut state = self.state();
        state.linked.push(bytes);
        format!("http://{origin}/files/{}", state.linked.len() - 1)
    }

    fn openai(&self, picture: &Value) -> Value {
        json!({"created": 1_764_000_000, "data": [picture], "usage": usage(self.form)})
    }

    fn gemini(&self, bytes: &[u8]) -> Value {
        let content = json!({"role": "model", "parts": [part(bytes, false)]});
        json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage(self.form), "modelVersion": "gemini-nano-banana-2.1"})
    }

    /// An error in the words of the service.
    fn error(&self, status: u16, why: &str) -> String {
        match self.form {
            Form::OpenAi => json!({"error": {"message": why, "type": "invalid_request_error",
                "param": null, "code": null}}),
            Form::Gemini => {
                let reason = if why.contains("API key") { "API_KEY_INVALID" } else { "OTHER" };
                let name = if status == 404 { "NOT_FOUND" } else { "INVALID_ARGUMENT" };
                json!({"error": {"code": status, "message": why, "status": name, "details": [
                    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}]}})
            }
        }
        .to_string()
    }

    /// The request for its models, which is not counted.
    const fn list_of_models(&self) -> &'static str {
        match self.form {
            Form::OpenAi => "GET /v1/models",
            Form::Gemini => "GET /v1beta/models",
        }
    }

    /// The status and words with which the real service would refuse the request.
    fn refuse(&self, request: &Asked, key: Option<&str>) -> Option<(u16, String)> {
        let (is_path, status) = match self.form {
            Form::OpenAi => (request.line == "POST /v1/images/generations", 401),
            Form::Gemini => (is_gemini(&request.line), 400),
        };
        if key != Some(KEY) {
            let given = key.unwrap_or_default();
            return Some((status, format!("API key not valid: {given}")));
        }
        if !is_path {
            return Some((404, format!("no such address: {}", request.line)));
        }
        let checked = match self.form {
            Form::OpenAi => check::check_openai(&request.json),
            Form::Gemini => check::check_gemini(&request.json),
        };
        checked.err().map(|why| (400, why))
    }
}

fn is_gemini(line: &str) -> bool {
    let rest = line.strip_prefix("POST /v1beta/models/gemini-");
    rest.is_some_and(|rest| rest.ends_with(":generateContent"))
}

async fn limited(socket: &mut BufReader<TcpStream>) -> Option<()> {
    let body = r#"{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}"#;
    let head = format!(
        "HTTP/1.1 429 Scripted\r\ncontent-type: {JSON}\r\nretry-after: 60\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.ok()
}

/// Sends a picture until the client goes away.
async fn endless(socket: &mut BufReader<TcpStream>, shared: &Shared) -> Option<()> {
    let head = format!(
        "HTTP/1.1 200 Scripted\r\ncontent-type: {JSON}\r\nconnection: close\r\n\r\n\
         {{\"created\":1,\"data\":[{{\"b64_json\":\""
    );
    socket.write_all(head.as_bytes()).await.ok()?;
    loop {
        socket.write_all(&[b'A'; PIECE]).await.ok()?;
        shared.state().sent += PIECE;
    }
}

async fn write(
    socket: &mut BufReader<TcpStream>,
    (status, kind): (u16, &str),
    body: &[u8],
) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.ok()?;
    socket.write_all(body).await.ok()
}

/// A request, and the key that it came with.
async fn read_request(socket: &mut BufReader<TcpStream>) -> Option<(Asked, Option<String>)> {
    let (mut line, mut key, mut length) = (String::new(), None, 0);
    socket.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    loop {
        let mut header = String::new();
        socket.read_line(&mut header).await.ok().filter(|read| *read > 0)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        let value = value.trim();
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => key = value.strip_prefix("Bearer ").map(str::to_owned),
            "x-goog-api-key" => key = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await.ok()?;
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let json = serde_json::from_slice(&body).unwrap_or_default();
    Some((Asked { line, json, refused: None }, key))
}

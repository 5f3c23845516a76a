//! A loopback OpenAI-compatible service for tests: chat, transcription, speech,
//! embeddings, models; and Anthropic's messages beside it (`anthropic_server.rs`).
//!
//! Entry types: [`ChatServer`], [`Script`]. It runs on a thread of its own, so paused time in a
//! test does not touch it, and refuses what the real services refuse (`chat_check.rs`,
//! `anthropic_check.rs`).
//! **Never**: answers a request that the real service would not have taken, unless told by
//! [`ChatServer::lenient`].

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use super::own_thread::OwnThread;
use anthropic_check::check_messages;
use check::{check_chat, check_embeddings, check_speech, check_transcription};

#[path = "anthropic_check.rs"]
mod anthropic_check;
#[path = "chat_check.rs"]
mod check;

/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(60);

/// A running service; it ends when dropped.
pub struct ChatServer {
    thread: OwnThread,
    shared: Arc<Shared>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// "POST /v1/chat/completions".
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, when it is JSON.
    pub json: Value,
    /// The body.
    pub body: Vec<u8>,
    /// Reason the real service would have refused it.
    pub refused: Option<String>,
}

/// Answer to one request.
#[derive(Clone, Debug)]
pub struct Script {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
}

/// A piece of an answer.
#[derive(Clone, Debug)]
pub enum Step {
    /// These bytes, at once.
    Bytes(Vec<u8>),
    /// Nothing for so long.
    Wait(Duration),
    /// Nothing until this is notified.
    Held(Arc<Notify>),
    /// Nothing more until the client goes away.
    Stall,
    /// The socket is closed in the middle.
    Cut,
}

type Answer = dyn Fn(&Recorded) -> Script + Send;

struct Shared {
    key: Option<String>,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    queue: VecDeque<Script>,
    otherwise: Box<Answer>,
    requests: Vec<Recorded>,
    lenient: bool,
    /// Answers that were sent whole.
    answered: usize,
    /// Answers that were not taken whole, because the client went away.
    abandoned: usize,
    connections: usize,
}

impl ChatServer {
    /// A service on a free port that wants no key.
    pub fn start() -> Self {
        Self::with_key(None)
    }

    /// A service on a free port; with a key, requests without it get 401.
    pub fn with_key(key: Option<&str>) -> Self {
        let state = State {
            queue: VecDeque::new(),
            otherwise: Box::new(default_answer),
            requests: Vec::new(),
            lenient: false,
            answered: 0,
            abandoned: 0,
            connections: 0,
        };
        let shared = Arc::new(Shared {
            key: key.map(str::to_owned),
            state: Mutex::new(state),
            changed: Notify::new(),
        });
        let serving = Arc::clone(&shared);
        let thread = OwnThread::serving(move |listener| serve(listener, serving));
        Self { thread, shared }
    }

    /// A voice that notifies `asked` when it is to say `sentence`.
    pub fn voice(sentence: &'static str, asked: &Arc<Notify>) -> Self {
        let (server, asked) = (Self::start(), Arc::clone(asked));
        server.otherwise(move |request| {
            if request.json["input"] == sentence {
                asked.notify_one();
            }
            Script::plain(200, "audio/pcm").bytes(&[0, 16].repeat(12_000))
        });
        server
    }

    /// The address to configure ("http://127.0.0.1:PORT/v1").
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.thread.address)
    }

    /// Answers the next valid request that has no script yet with `script`.
    pub fn push(&self, script: Script) {
        self.state().queue.push_back(script);
    }

    /// Answers requests beyond the scripts; without it chat says "Aye.".
    pub fn otherwise(&self, answer: impl Fn(&Recorded) -> Script + Send + 'static) {
        self.state().otherwise = Box::new(answer);
    }

    /// Records what the real service would refuse, but answers it.
    pub fn lenient(&self) {
        self.state().lenient = true;
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state().requests.clone()
    }

    /// Connections so far; a client that keeps one open needs no second.
    pub fn connections(&self) -> usize {
        self.state().connections
    }

    /// Resolves when `count` answers were sent whole; fails after [`BOUND`].
    pub async fn answers(&self, count: usize) {
        self.until(|state| state.answered >= count).await;
    }

    /// Resolves when clients went away from `count` unfinished answers; fails after [`BOUND`].
    pub async fn abandoned(&self, count: usize) {
        self.until(|state| state.abandoned >= count).await;
    }

    /// Resolves when `count` requests came; fails after [`BOUND`].
    pub async fn received(&self, count: usize) {
        self.until(|state| state.requests.len() >= count).await;
    }

    async fn until(&self, is_met: impl Fn(&State) -> bool) {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if is_met(&self.state()) {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(BOUND, waiting).await.expect("in time");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().expect("no panic while locked")
    }
}

impl Script {
    /// A status with headers of an event stream and no body yet.
    pub fn stream() -> Self {
        Self::plain(200, "text/event-stream")
    }

    /// A status and content type with no body yet.
    pub fn plain(status: u16, content_type: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, steps: Vec::new() }
    }

    /// A streamed reply of these tokens, with usage, as OpenAI writes it.
    pub fn text(tokens: &[&str]) -> Self {
        let mut script = Self::stream()
            .chunk(json!({"role": "assistant", "content": "", "refusal": null}), None);
        for token in tokens {
            script = script.chunk(json!({"content": token}), None);
        }
        script.chunk(json!({}), Some("stop")).usage(20, 8, 5).done()
    }

    /// A streamed reply asking for these calls in parallel: (id, name, arguments), in fragments.
    pub fn calls(calls: &[(&str, &str, &str)]) -> Self {
        let mut script = Self::stream().chunk(json!({"role": "assistant", "content": null}), None);
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            let first = json!({"index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": ""}});
            script = script.chunk(json!({"tool_calls": [first]}), None);
            let chars: Vec<char> = arguments.chars().collect();
            for piece in chars.chunks(4) {
                let piece: String = piece.iter().collect();
                let more = json!({"index": index, "function": {"arguments": piece}});
                script = script.chunk(json!({"tool_calls": [more]}), None);
            }
        }
        script.chunk(json!({}), Some("tool_calls")).usage(20, 8, 5).done()
    }

    /// A refusal in OpenAI's shape.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let error = json!({"message": message, "type": kind, "param": null, "code": null});
        Self::json(status, &json!({"error": error}))
    }

    /// A JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::plain(status, "application/json").raw(&body.to_string())
    }

    /// A header of the answer.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.into(), value.into()));
        self
    }

    /// A chunk with this delta in its only choice.
    pub fn chunk(self, delta: Value, finish_reason: Option<&str>) -> Self {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        self.event(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m", "choices": [choice]}))
    }

    /// The chunk that carries the token count.
    pub fn usage(self, prompt: u64, cached: u64, completion: u64) -> Self {
        self.event(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m", "choices": [], "usage": {"prompt_tokens": prompt,
            "completion_tokens": completion, "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached}}}))
    }

    /// One event of a stream.
    pub fn event(self, data: &Value) -> Self {
        self.raw(&format!("data: {data}\n\n"))
    }

    /// The end of a stream.
    pub fn done(self) -> Self {
        self.raw("data: [DONE]\n\n")
    }

    /// Text as it is.
    pub fn raw(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Bytes as they are, one packet.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        self.step(Step::Bytes(bytes.to_vec()))
    }

    /// Splits the bytes so far into pieces of `size`.
    pub fn in_pieces(mut self, size: usize) -> Self {
        let all: Vec<u8> = self
            .steps
            .iter()
            .flat_map(|step| match step {
                Step::Bytes(bytes) => bytes.clone(),
                _ => panic!("only bytes can be cut again"),
            })
            .collect();
        self.steps = all.chunks(size).map(|piece| Step::Bytes(piece.to_vec())).collect();
        self
    }

    /// Waits this long before each piece so far.
    pub fn paced(mut self, pause: Duration) -> Self {
        let steps = std::mem::take(&mut self.steps);
        self.steps = steps.into_iter().flat_map(|step| [Step::Wait(pause), step]).collect();
        self
    }

    /// Holds all that follows the piece with `text` back until `go_on` is notified.
    pub fn held_after(mut self, text: &str, go_on: &Arc<Notify>) -> Self {
        let has_text = |step: &Step| match step {
            Step::Bytes(bytes) => String::from_utf8_lossy(bytes).contains(text),
            _ => false,
        };
        let at = self.steps.iter().position(has_text).expect("a piece with the text");
        self.steps.insert(at + 1, Step::Held(Arc::clone(go_on)));
        self
    }

    /// Any further step.
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

fn default_answer(request: &Recorded) -> Script {
    let path = request.line.split('?').next().unwrap_or_default();
    match path.rsplit('/').next() {
        Some("messages") => super::anthropic_server::said(&["Aye", "."]),
        Some("completions") => Script::text(&["Aye", "."]),
        Some("transcriptions") => Script::json(200, &json!({"text": "well met"})),
        Some("speech") => Script::plain(200, "audio/pcm").bytes(&[0, 16].repeat(2400)),
        Some("models") => {
            Script::json(200, &json!({"object": "list", "data": [{"id": "test-model"}]}))
        }
        _ => Script::error(404, "invalid_request_error", "unknown path"),
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (socket, _) = accepted.expect("a connection");
                let _ = socket.set_nodelay(true);
                shared.state.lock().expect("no panic while locked").connections += 1;
                connections.spawn(converse(socket, shared.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Requests on one connection, until it closes.
async fn converse(socket: TcpStream, shared: Arc<Shared>) {
    let mut socket = BufReader::new(socket);
    while let Some(mut request) = read_request(&mut socket).await {
        let script = {
            let mut state = shared.state.lock().expect("no panic while locked");
            let refusal = refuse(&request, shared.key.as_deref());
            request.refused = refusal.as_ref().map(|(_, message)| message.clone());
            state.requests.push(request.clone());
            match refusal {
                Some((status, message)) if request.is_for_anthropic() => {
                    super::anthropic_server::refusal(status, &message)
                }
                Some((401, message)) => Script::error(401, "invalid_request_error", &message),
                Some((status, message)) if !state.lenient => {
                    Script::error(status, "invalid_request_error", &message)
                }
                _ => match state.queue.pop_front() {
                    Some(script) => script,
                    None => (state.otherwise)(&request),
                },
            }
        };
        shared.changed.notify_waiters();
        match play(&mut socket, script).await {
            Played::Whole => {
                shared.state.lock().expect("no panic while locked").answered += 1;
                shared.changed.notify_waiters();
            }
            Played::Cut => return,
            Played::Abandoned => {
                shared.state.lock().expect("no panic while locked").abandoned += 1;
                shared.changed.notify_waiters();
                return;
            }
        }
    }
}

enum Played {
    Whole,
    Cut,
    Abandoned,
}

async fn play(socket: &mut BufReader<TcpStream>, script: Script) -> Played {
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", script.status);
    for (name, value) in &script.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    if socket.write_all(head.as_bytes()).await.is_err() {
        return Played::Abandoned;
    }
    for step in script.steps {
        let sent = match step {
            Step::Bytes(bytes) if bytes.is_empty() => Ok(()),
            Step::Bytes(bytes) => {
                let mut piece = format!("{:x}\r\n", bytes.len()).into_bytes();
                piece.extend(bytes);
                piece.extend(b"\r\n");
                socket.write_all(&piece).await
            }
            // A client has nothing to say now: a byte or an end means that it went away.
            Step::Wait(time) => match tokio::time::timeout(time, socket.fill_buf()).await {
                Ok(_) => return Played::Abandoned,
                Err(_) => Ok(()),
            },
            Step::Held(until) => tokio::select! {
                () = until.notified() => Ok(()),
                _ = socket.fill_buf() => return Played::Abandoned,
            },
            Step::Stall => {
                let _ = socket.fill_buf().await;
                return Played::Abandoned;
            }
            Step::Cut => {
                let _ = socket.write_all(b"ff\r\ndata: {\"ch").await;
                return Played::Cut;
            }
        };
        if sent.is_err() {
            return Played::Abandoned;
        }
        // Lets the client see each piece by itself.
        tokio::task::yield_now().await;
    }
    match socket.write_all(b"0\r\n\r\n").await {
        Ok(()) => Played::Whole,
        Err(_) => Played::Abandoned,
    }
}

async fn read_request(socket: &mut BufReader<TcpStream>) -> Option<Recorded> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if socket.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let mut head = head.into_iter();
    let line = head.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> = head
        .filter_map(|line| {
            line.split_once(':').map(|(n, v)| (n.to_lowercase(), v.trim().to_owned()))
        })
        .collect();
    let header = |name: &str| headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let body = match header("content-length").map(str::parse) {
        Some(Ok(length)) => {
            let mut body = vec![0; length];
            socket.read_exact(&mut body).await.ok()?;
            body
        }
        _ if header("transfer-encoding").is_some() => read_chunked(socket).await?,
        _ => Vec::new(),
    };
    let json = serde_json::from_slice(&body).unwrap_or_default();
    Some(Recorded { line, headers, json, body, refused: None })
}

async fn read_chunked(socket: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        socket.read_line(&mut line).await.ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut piece = vec![0; length + 2];
        socket.read_exact(&mut piece).await.ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(piece.get(..length)?);
    }
}

impl Recorded {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// True if it speaks Anthropic's language.
    fn is_for_anthropic(&self) -> bool {
        self.line.ends_with("/messages") || self.header("anthropic-version").is_some()
    }

    /// The key it was sent with.
    fn key(&self) -> Option<&str> {
        let bearer = self.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
        bearer.or_else(|| self.header("x-api-key").filter(|_| self.is_for_anthropic()))
    }
}

/// The status and words with which the real service would refuse the request.
fn refuse(request: &Recorded, key: Option<&str>) -> Option<(u16, String)> {
    if request.is_for_anthropic()
        && (request.key().is_none() || key.is_some_and(|it| request.key() != Some(it)))
    {
        return Some((401, "invalid x-api-key".into()));
    }
    if let Some(key) = key
        && request.key() != Some(key)
    {
        return Some((401, "Incorrect API key provided".into()));
    }
    let checked = match request.line.as_str() {
        "POST /v1/chat/completions" => check_chat(&request.json),
        "POST /v1/messages" => check_messages(request),
        "POST /v1/audio/speech" => check_speech(&request.json),
        "POST /v1/embeddings" => check_embeddings(&request.json),
        "POST /v1/audio/transcriptions" => check_transcription(request),
        _ => Ok(()),
    };
    checked.err().map(|message| (400, message))
}

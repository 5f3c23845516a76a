//! A loopback service that is reached by WebSockets, for tests. It has one address and one key, records what
//! comes, and fails where a test wants it to. It runs on a thread of its own, so paused time in a test does
//! not touch it.
//!
//! Entry types: [`SocketServer`], whose protocol is a [`Service`]; [`Socket`], a connection after its
//! handshake.

use std::{
    collections::VecDeque,
    fmt::Debug,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use futures::StreamExt;
use reqwest::Url;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::server::{ErrorResponse, Request, Response},
        http,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::own_thread::OwnThread;

/// Longest wait of a test.
const BOUND: Duration = Duration::from_secs(60);
/// Longest head of a plain request.
const HEAD: usize = 4 << 10;

/// The protocol of a service. Its value is what tests script beside faults.
pub trait Service: Default + Send + 'static {
    /// One handshake, and what came after it.
    type Seen: Clone + Debug + Send;
    /// Fault of one socket; that by default is none.
    type Fault: Clone + Default + Send;
    /// What an accepted handshake settles.
    type Agreed: Send;

    /// Status and body for a plain GET; `None`: the request is left to the handshake.
    fn answer(_asked: &Asked, _key: &str) -> Option<(&'static str, Value)> {
        None
    }

    /// Reads a handshake: its record, and what it settles or how the real service would refuse it.
    fn handshake(asked: Asked, key: &str) -> (Self::Seen, Result<Self::Agreed, Refusal>);

    /// Refusal of every handshake with this fault.
    fn scripted(fault: &Self::Fault) -> Option<Refusal>;

    /// Place in the record for the reason of a refusal.
    fn refused(seen: &mut Self::Seen) -> &mut Option<String>;

    /// Serves a socket to its end.
    fn serve(socket: Socket<Self>, agreed: Self::Agreed) -> impl Future<Output = ()> + Send;
}

/// A running service; it ends when dropped.
pub struct SocketServer<S: Service> {
    thread: OwnThread,
    pub shared: Arc<Shared<S>>,
}

/// Shared by all connections of a service.
pub struct Shared<S: Service> {
    pub key: String,
    state: Mutex<State<S>>,
    changed: Notify,
}

pub struct State<S: Service> {
    faults: VecDeque<S::Fault>,
    /// Of all sockets without one of their own.
    others: S::Fault,
    seen: Vec<S::Seen>,
    /// What tests scripted.
    pub script: S,
}

/// A request: its address and its headers.
pub struct Asked {
    pub path: String,
    /// Parameters of the query, in order.
    pub query: Vec<(String, String)>,
    /// Names in lower case.
    headers: Vec<(String, String)>,
}

/// Answer to a refused handshake.
pub struct Refusal {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

/// A connection after its handshake.
pub struct Socket<S: Service> {
    pub stream: WebSocketStream<TcpStream>,
    pub shared: Arc<Shared<S>>,
    pub fault: S::Fault,
    /// Index of its record.
    number: usize,
}

impl<S: Service> SocketServer<S> {
    /// A service on a free port that wants `key`.
    pub fn start(key: &str) -> Self {
        let state = State {
            faults: VecDeque::new(),
            others: S::Fault::default(),
            seen: Vec::new(),
            script: S::default(),
        };
        let (state, changed) = (Mutex::new(state), Notify::new());
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
    pub fn fault(&self, fault: S::Fault) {
        self.shared.change(|state| state.faults.push_back(fault));
    }

    /// Fault of all sockets that have none of their own.
    pub fn fails(&self, fault: S::Fault) {
        self.shared.change(|state| state.others = fault);
    }

    /// Everything that came, by handshakes.
    pub fn seen(&self) -> Vec<S::Seen> {
        self.shared.state().seen.clone()
    }

    /// Resolves when `is_met`; fails after a minute.
    pub async fn until(&self, is_met: impl Fn(&[S::Seen]) -> bool) {
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

impl<S: Service> Shared<S> {
    /// The script and the record, locked.
    pub fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().expect("no panic while locked")
    }

    /// Changes them, and wakes waiting tests.
    pub fn change<T>(&self, change: impl FnOnce(&mut State<S>) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.notify_waiters();
        changed
    }

    /// Records a handshake: its number, its fault and what it settles, or its refusal.
    fn handshake(&self, asked: Asked) -> Result<(usize, S::Fault, S::Agreed), Refusal> {
        let (seen, judged) = S::handshake(asked, &self.key);
        let (number, fault) = self.change(|state| {
            state.seen.push(seen);
            (state.seen.len() - 1, state.faults.pop_front().unwrap_or_else(|| state.others.clone()))
        });
        match S::scripted(&fault).map_or(judged, Err) {
            Ok(agreed) => Ok((number, fault, agreed)),
            Err(refusal) => {
                let reason = refusal.body.to_string();
                self.change(|state| *S::refused(&mut state.seen[number]) = Some(reason));
                Err(refusal)
            }
        }
    }
}

impl Asked {
    fn new(target: &str, headers: Vec<(String, String)>) -> Option<Self> {
        let url = Url::parse(&format!("http://localhost{target}")).ok()?;
        let query = url.query_pairs().into_owned().collect();
        Some(Self { path: url.path().to_owned(), query, headers })
    }

    fn of_head(head: &str) -> Option<Self> {
        let mut lines = head.lines();
        let target = lines.next()?.split(' ').nth(1)?;
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, it)| (name.to_ascii_lowercase(), it.trim().to_owned()));
        Self::new(target, headers.collect())
    }

    fn of_handshake(request: &Request) -> Self {
        let text =
            request.headers().iter().filter_map(|(name, it)| Some((name, it.to_str().ok()?)));
        let headers = text.map(|(name, it)| (name.as_str().to_owned(), it.to_owned()));
        Self::new(&request.uri().to_string(), headers.collect()).expect("an address")
    }

    /// The first value of `key` in the query.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Refusal {
    /// Without headers of its own.
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, headers: Vec::new(), body }
    }

    /// As a test scripts it.
    pub fn scripted(status: u16, headers: &[(&'static str, &'static str)], body: &Value) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self { status, headers, body: body.clone() }
    }

    fn response(&self) -> ErrorResponse {
        let text = self.body.to_string();
        let mut answer = http::Response::builder()
            .status(self.status)
            .header("content-type", "application/json")
            .header("content-length", text.len().to_string())
            .header("connection", "close");
        for (name, value) in &self.headers {
            answer = answer.header(*name, value.as_str());
        }
        answer.body(Some(text)).expect("a response")
    }
}

impl<S: Service> Socket<S> {
    /// Changes its record.
    pub fn note(&self, note: impl FnOnce(&mut S::Seen)) {
        self.shared.change(|state| note(&mut state.seen[self.number]));
    }

    /// Looks at its record.
    pub fn seen<T>(&self, look: impl FnOnce(&S::Seen) -> T) -> T {
        look(&self.shared.state().seen[self.number])
    }

    /// Closes with a code and a reason, or without.
    pub async fn close(&mut self, frame: Option<(u16, &str)>) {
        let frame = frame.map(|(code, reason)| CloseFrame {
            code: CloseCode::from(code),
            reason: reason.to_owned().into(),
        });
        let _ = self.stream.close(frame).await;
    }

    /// Closes, and reads on to the end: what is unread then would take the reason with it.
    pub async fn close_and_drain(&mut self, frame: Option<(u16, &str)>) {
        let ending = async {
            self.close(frame).await;
            while self.stream.next().await.is_some_and(|message| message.is_ok()) {}
        };
        let _ = tokio::time::timeout(BOUND, ending).await;
    }
}

async fn serve<S: Service>(listener: TcpListener, shared: Arc<Shared<S>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(connection(stream, Arc::clone(&shared)));
    }
}

async fn connection<S: Service>(stream: TcpStream, shared: Arc<Shared<S>>) {
    let Some(head) = head(&stream).await else { return };
    let plain = if head.starts_with("GET ") { Asked::of_head(&head) } else { None };
    match plain.and_then(|asked| S::answer(&asked, &shared.key)) {
        Some((status, body)) => answer(stream, head.len(), status, &body).await,
        None => talk(stream, shared).await,
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

/// Answers a plain request, whose head has this length.
async fn answer(mut stream: TcpStream, head: usize, status: &str, body: &Value) {
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: \
         close\r\n\r\n{body}",
        body.len()
    );
    // What is unread would break the connection off.
    let _ = stream.read_exact(&mut vec![0; head]).await;
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// One socket, from its handshake to its end.
async fn talk<S: Service>(stream: TcpStream, shared: Arc<Shared<S>>) {
    let mut agreed = None;
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let shake = |request: &Request, response: Response| {
        match shared.handshake(Asked::of_handshake(request)) {
            Ok(settled) => agreed = Some(settled),
            Err(refusal) => return Err(refusal.response()),
        }
        Ok(response)
    };
    let Ok(stream) = tokio_tungstenite::accept_hdr_async(stream, shake).await else { return };
    let Some((number, fault, agreed)) = agreed else { return };
    S::serve(Socket { stream, shared, fault, number }, agreed).await;
}

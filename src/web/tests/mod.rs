//! The listener with trivial routes, over pipes and paused time, or sockets of this machine.

mod attacks;
mod doors;
mod endings;
mod rehearsal;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    routing::{get, post},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    bounds::Bounds,
    connections::{self, Shared},
    entry::Entry,
    guard::Guard,
    options::WebOptions,
    routes::Routes,
    sockets::Sockets,
};
use crate::{
    campaign::{Access, NewToken},
    domain::{AccessRole, Owner},
    memory::Sqlite,
};

/// Bytes that a pipe holds.
const PIPE: usize = 4 * 1024;
/// Answer of the route `/large`.
const LARGE: usize = 1024 * 1024;
/// Header of the last request of a connection; without it time passes until the server closes it.
pub const CLOSE: &str = "Connection: close";
/// Longest wait of a test over real sockets.
const PATIENCE: Duration = Duration::from_secs(60);

/// A listener's routes, and a token for them.
pub struct Door {
    access: Access,
    token: String,
    id: String,
    shared: Shared,
    _folder: tempfile::TempDir,
}

/// `request` with this line, headers and body.
pub fn request(line: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    let mut lines = vec![format!("{line} HTTP/1.1"), "Host: localhost".to_owned()];
    lines.extend(headers.iter().map(|line| (*line).to_owned()));
    if line.starts_with("POST") {
        lines.push(length);
    }
    format!("{}\r\n\r\n{body}", lines.join("\r\n")).into_bytes()
}

pub fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// Number of answers in `text`.
fn answers(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count()
}

/// Reads until the other side closes.
async fn to_the_end(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut all = Vec::new();
    // A connection that is reset has said what it said.
    let _ = stream.read_to_end(&mut all).await;
    String::from_utf8_lossy(&all).into_owned()
}

impl Door {
    async fn new(bounds: Bounds) -> Self {
        Self::with(bounds, Router::new()).await
    }

    /// With `more` routes behind the token.
    async fn with(bounds: Bounds, more: Router) -> Self {
        Self::beside(bounds, more, Router::new()).await
    }

    /// With `more` routes behind the token, and `open` ones.
    pub async fn beside(bounds: Bounds, more: Router, open: Router) -> Self {
        Self::with_all(bounds, more, open, Router::new()).await
    }

    /// With `near` routes too, which programs of this machine reach without a token.
    pub async fn with_all(bounds: Bounds, more: Router, open: Router, near: Router) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
        let access = Access::new(store);
        let wanted =
            NewToken { owner: Owner::Local, role: AccessRole::Dm, tools: None, days: None };
        let (token, kept) = access.create(wanted).await.unwrap();
        let length = |body: Bytes| async move { format!("{} bytes", body.len()) };
        let behind_token = more
            .route("/mcp", get(|| async { "hello" }).post(length))
            .route("/large", get(|| async { vec![b'x'; LARGE] }));
        let open = open.route("/open", post(length));
        let (guard, entry) =
            (Guard::new(&WebOptions::default()), Entry::new(access.clone(), &bounds));
        let routes = Routes { behind_token, open, near }.checked(guard, entry, &bounds);
        let stop = CancellationToken::new();
        let shared = Shared { routes, bounds: Arc::new(bounds), stop };
        Self { access, token, id: kept.id, shared, _folder: folder }
    }

    /// Another token.
    pub async fn token_of(&self, owner: Owner, role: AccessRole) -> String {
        let wanted = NewToken { owner, role, tools: None, days: None };
        self.access.create(wanted).await.unwrap().0
    }

    pub fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// A connection; its task ends with it.
    fn connect(&self) -> (DuplexStream, JoinHandle<()>) {
        self.connect_from(None)
    }

    /// A connection from `peer`.
    fn connect_from(&self, peer: Option<IpAddr>) -> (DuplexStream, JoinHandle<()>) {
        let (client, server) = tokio::io::duplex(PIPE);
        let place = Sockets::new(1).admit().unwrap();
        let place = match peer {
            Some(peer) => place.with_peer(peer),
            None => place,
        };
        let serving = connections::connection(server, place, self.shared.clone());
        (client, tokio::spawn(serving))
    }

    /// Serves sockets of this machine until it is stopped; its address and its task.
    async fn listens(&self) -> (SocketAddr, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (address, tokio::spawn(connections::serve(listener, self.shared.clone())))
    }

    /// Everything that answers `bytes` until the connection is closed.
    pub async fn says(&self, bytes: &[u8]) -> String {
        self.says_to(None, bytes).await
    }

    /// Like [`Self::says`], to a client at `peer`.
    pub async fn says_to(&self, peer: Option<IpAddr>, bytes: &[u8]) -> String {
        let (client, task) = self.connect_from(peer);
        let (mut reader, mut writer) = tokio::io::split(client);
        // A server that has refused reads no further.
        let (_, said) = tokio::join!(writer.write_all(bytes), to_the_end(&mut reader));
        task.await.unwrap();
        said
    }

    /// Like [`Self::says`], for a request with the token.
    async fn asked(&self, line: &str, body: &str) -> String {
        self.says(&request(line, &[&self.bearer(), CLOSE], body)).await
    }
}

//! The web sockets of one voice server.
//!
//! Entry: [`accept`], until its voice is dropped.
//! Never decides what a message means: that is [`super::protocol`].

use super::{Shared, protocol::Connection, seat::Close};
use anyhow::Context as _;
use futures::{SinkExt as _, StreamExt as _};
use std::sync::{Arc, Mutex};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request, Response},
    },
};

/// Most messages on their way to one client; with more, it loses its socket.
const OUTBOX: usize = 1024;
/// Longest time of TLS and the upgrade.
const HANDSHAKE: std::time::Duration = std::time::Duration::from_secs(10);
/// Interval at which a cut is looked at: the test may end it at any moment.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// Serves every client that comes to server number `server`.
pub(super) async fn accept(
    shared: Arc<Shared>,
    server: usize,
    listener: TcpListener,
    tls: TlsAcceptor,
) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let (shared, tls) = (Arc::clone(&shared), tls.clone());
                    clients.spawn(async move {
                        if let Err(error) = client(shared, server, stream, tls).await {
                            tracing::debug!(%error, "voice socket ended");
                        }
                    });
                }
                Err(error) => tracing::warn!(%error, "accepting a voice socket failed"),
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

/// One client, from its first byte to its last.
async fn client(
    shared: Arc<Shared>,
    server: usize,
    stream: TcpStream,
    tls: TlsAcceptor,
) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let path = Mutex::new(String::new());
    #[expect(clippy::result_large_err, reason = "the signature of a handshake's callback")]
    let upgrade = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        *super::lock(&path) = request.uri().to_string();
        Ok(response)
    };
    let socket = timeout(HANDSHAKE, async {
        let stream = tls.accept(stream).await.context("accepting TLS")?;
        accept_hdr_async(stream, upgrade).await.context("upgrading to a web socket")
    })
    .await??;
    let version = version(&super::lock(&path));
    let (outbox, inbox) = mpsc::channel(OUTBOX);
    let (hello, mut connection) = {
        let mut state = shared.state();
        let id = state.connection();
        let connection = Connection { id, version, server, who: None, outbox: Some(outbox) };
        (connection.hello(&state), connection)
    };
    let result = talk(&shared, socket, inbox, hello, &mut connection).await;
    if let Some(who) = connection.who {
        shared.state().socket_gone(who, connection.id);
    }
    result
}

/// The version in the address, 4 if there is none.
fn version(path: &str) -> u8 {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let version = query.split('&').find_map(|pair| pair.strip_prefix("v="));
    version.and_then(|version| version.parse().ok()).unwrap_or(4)
}

/// Passes messages both ways, until one side closes.
async fn talk(
    shared: &Shared,
    socket: WebSocketStream<TlsStream<TcpStream>>,
    mut inbox: mpsc::Receiver<Message>,
    hello: Message,
    connection: &mut Connection,
) -> anyhow::Result<()> {
    let (mut sink, mut stream) = socket.split();
    sink.send(hello).await?;
    loop {
        let heard = tokio::select! {
            out = inbox.recv() => {
                // The session let go without a close frame: so does the socket.
                let Some(out) = out else { return Ok(()) };
                uncut(shared, connection).await;
                let last = out.is_close();
                sink.send(out).await?;
                if last {
                    return Ok(());
                }
                continue;
            }
            heard = stream.next() => heard,
        };
        let Some(heard) = heard else { return Ok(()) };
        let heard = heard?;
        uncut(shared, connection).await;
        let answer = match heard {
            Message::Text(text) => shared.state().text(connection, &text),
            Message::Binary(bytes) => shared.state().binary(connection, &bytes).map(|()| None),
            Message::Close(_) => return Ok(()),
            _ => Ok(None),
        };
        match answer {
            Ok(None) => {}
            Ok(Some(answer)) => sink.send(answer).await?,
            Err(close) => {
                blame(shared, connection, &close);
                sink.send(close.message()).await?;
                return Ok(());
            }
        }
    }
}

/// A close the client has brought about is a violation.
fn blame(shared: &Shared, connection: &Connection, Close(code, why): &Close) {
    let who =
        connection.who.map_or_else(|| "a client".to_owned(), |(_, user)| format!("user {user}"));
    shared.state().violation(format!("{who} was closed with {code}: {why}"));
}

/// Waits while the client's network is cut, unless its session has ended: a close that ends one arrives.
async fn uncut(shared: &Shared, connection: &Connection) {
    let Some(who) = connection.who else { return };
    let is_cut = || {
        let state = shared.state();
        state.carries(connection, who) && state.cut(who).is_some()
    };
    while is_cut() {
        sleep(LOOK).await;
    }
}

//! One port for TLS and for plain text: the first byte tells.
//!
//! Entry functions: [`listen`], [`serve`]. Never: knowing what is spoken on top.

use anyhow::Context as _;
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;
/// Longest silence of a client before it is dropped.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A listener on a free port of 127.0.0.1.
pub(crate) async fn listen() -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("listening on 127.0.0.1")?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Accepts connections until cancelled; each has `talk` on a task of its own, which goes by `name`
/// where its end is logged.
pub(crate) async fn serve<F>(
    listener: TcpListener,
    (tasks, stop): (TaskTracker, CancellationToken),
    name: &'static str,
    talk: impl Fn(TcpStream) -> F,
) where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((socket, _)) = accepted else { continue };
        let (talk, stop) = (talk(socket), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                result = talk => if let Err(error) = result {
                    tracing::debug!(%error, name, "connection ended");
                },
            }
        });
    }
}

/// Looks at the first byte and shakes hands when it is TLS.
pub(crate) async fn accept(
    stream: TcpStream,
    tls: &TlsAcceptor,
) -> anyhow::Result<Box<dyn Stream>> {
    stream.set_nodelay(true)?;
    let mut first = [0];
    timeout(PATIENCE, stream.peek(&mut first)).await.context("waiting for a first byte")??;
    if first[0] != HANDSHAKE {
        return Ok(Box::new(stream));
    }
    let stream = timeout(PATIENCE, tls.accept(stream)).await.context("waiting for a handshake")?;
    Ok(Box::new(stream.context("shaking hands")?))
}

//! The listener's connections: accepted, bounded, and ended in order. Entry function: [`serve`].
//!
//! A connection ends by its client, by a bound (the time of a head, of a body, of a write that
//! waits), by giving way to another one, or with the listener: then what is under way may still be
//! answered for [`Bounds::end`], and is cancelled after that. A connection that has switched
//! protocols goes on with what its route has left in [`Onward`].

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{Router, extract::Request};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    bounds::Bounds,
    onward::Onward,
    patient::Patient,
    peer::Peer,
    sockets::{Admitted, Sockets},
};
use crate::panics::caught;

/// Bytes of a connection that are read ahead, or wait to be sent.
const BUFFER: usize = 64 * 1024;
/// Wait after the system has refused a connection, mostly because too many files are open.
const ACCEPT_AGAIN: Duration = Duration::from_millis(500);

/// Most newcomers without a place that are answered at a time; further ones are closed at once.
const TURNED_AWAY: usize = 16;
/// Longest time for that answer.
const TURN_AWAY: Duration = Duration::from_secs(1);
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Content-Type: text/plain; charset=utf-8\r\nRetry-After: 5\r\nConnection: close\r\n\r\n\
    all connections are in use (try again in some seconds)\n";

/// Shared by all connections.
#[derive(Clone)]
pub struct Shared {
    pub routes: Router,
    pub bounds: Arc<Bounds>,
    pub stop: CancellationToken,
}

/// Serves all connections of `listener` until it is stopped, and ends them.
pub async fn serve(listener: TcpListener, shared: Shared) {
    let (sockets, patience) = (Sockets::new(shared.bounds.sockets), shared.bounds.end);
    let (mut connections, turns) = (JoinSet::new(), Arc::new(Semaphore::new(TURNED_AWAY)));
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                // Answers are small, and written whole.
                let _ = stream.set_nodelay(true);
                if let Some(place) = sockets.admit().map(|place| place.with_peer(peer.ip())) {
                    drop(connections.spawn(watch(stream, place, shared.clone())));
                    continue;
                }
                tracing::debug!("a connection is closed: all sockets are in use");
                if let Ok(turn) = Arc::clone(&turns).try_acquire_owned() {
                    drop(connections.spawn(turn_away(stream, turn)));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::select! {
                    () = shared.stop.cancelled() => break,
                    () = tokio::time::sleep(ACCEPT_AGAIN) => {}
                }
            }
        }
    }
    drop((listener, shared));
    end(connections, patience).await;
}

/// Tells a newcomer that there is no place.
async fn turn_away(mut stream: impl AsyncRead + AsyncWrite + Unpin, _turn: OwnedSemaphorePermit) {
    let told = async {
        stream.write_all(FULL).await?;
        stream.shutdown().await?;
        // Closed before its request has come, it would be reset.
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    };
    if tokio::time::timeout(TURN_AWAY, told).await.is_err() {
        tracing::trace!("a newcomer without a place stays, and is closed");
    }
}

/// Waits for `connections`, and cancels those that are left after `patience`.
async fn end(mut connections: JoinSet<()>, patience: Duration) {
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(patience, all).await.is_err() {
        tracing::debug!(left = connections.len(), "requests are cancelled");
        connections.shutdown().await;
    }
}

/// Serves a connection; logs a panic of a route, which costs its connection alone.
async fn watch(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: Admitted,
    shared: Shared,
) {
    if let Err(fault) = caught(connection(stream, place, shared)).await {
        tracing::error!(%fault, "a web request failed");
    }
}

/// Serves the requests of one connection to its end.
pub async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: Admitted,
    shared: Shared,
) {
    let Shared { routes, bounds, stop } = shared;
    let (routes, socket) = (TowerToHyperService::new(routes), Arc::clone(place.socket()));
    let (carrier, onward) = (Arc::clone(&socket), Onward::default());
    let (left, peer) = (onward.clone(), place.peer());
    let service = service_fn(move |mut request: Request<Incoming>| {
        carrier.ask();
        request.extensions_mut().insert(Arc::clone(&carrier));
        request.extensions_mut().insert(left.clone());
        if let Some(peer) = peer {
            request.extensions_mut().insert(Peer(peer));
        }
        routes.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(bounds.head_time)
        .max_headers(bounds.headers)
        .max_header_size(bounds.head)
        .max_buf_size(BUFFER);
    let stream = TokioIo::new(Patient::new(stream, bounds.write_time));
    let mut serving = pin!(http.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = place.shed() => return,
        () = stop.cancelled() => {
            if !socket.has_asked() {
                // hyper would wait for its first request.
                return;
            }
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a web connection broke off");
    } else if let Some(work) = onward.take() {
        tokio::select! {
            () = work => {}
            () = place.shed() => {}
        }
    }
}

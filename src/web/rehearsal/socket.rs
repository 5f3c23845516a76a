//! `GET /table`: the WebSocket of a page. Entry function: [`routes`].
//!
//! It needs the browser's pass and an `Origin`, which the guard has checked. The query names the
//! page's tab (`tab=`), so that a page whose connection was lost is known again. All that comes is
//! bounded in size, rate and time; reading and writing wait for each other only through the table.
//! The page receives the reason for which its socket ends.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, Method, StatusCode, Uri, Version,
        header::{
            CONNECTION, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION,
            UPGRADE,
        },
    },
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};
use tokio_util::sync::CancellationToken;

use super::{
    exchange::{Ended, exchange, farewell},
    pages::{PagePlace, Pages},
    wire::MESSAGE_MAX,
};
use crate::{
    campaign,
    web::{onward::Onward, pages::Seal, refusal::Refusal, sockets::Socket},
};

/// Bytes that are read at once: one event, or some 300 ms of sound.
const READ: usize = 8 * 1024;
/// Characters of a tab's name.
const TAB_MAX: usize = 64;
/// Longest wait for the page to take its last message.
const FAREWELL: Duration = Duration::from_secs(1);

pub struct TableSocket {
    pub seal: Seal,
    pub pages: Pages,
    pub stop: CancellationToken,
}

pub fn routes(socket: TableSocket) -> Router {
    Router::new().route("/table", get(join)).with_state(Arc::new(socket))
}

async fn join(State(socket): State<Arc<TableSocket>>, mut request: Request) -> Response {
    match socket.admit(&mut request, campaign::now()) {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}

impl TableSocket {
    /// Answers the upgrade, and leaves the socket's work to the connection; `now`: Unix time in ms.
    fn admit(&self, request: &mut Request, now: i64) -> Result<Response, Refusal> {
        if !request.headers().contains_key(ORIGIN) {
            return Err(Refusal::NoOrigin);
        }
        let pass = self.seal.pass(request.headers(), now).ok_or(Refusal::NoPass)?;
        let accept = key(request).ok_or(Refusal::NoSocket)?;
        let onward = request.extensions().get::<Onward>().cloned().ok_or(Refusal::NoSocket)?;
        let trust = request.extensions().get::<Arc<Socket>>().map(|it| it.trust());
        let place = self.pages.admit(&pass, tab(request.uri()));
        let place = place.ok_or(Refusal::ManyPages(self.pages.most()))?;
        let (upgrade, stop) = (hyper::upgrade::on(request), self.stop.clone());
        onward.set(async move {
            let _trust = trust;
            match upgrade.await {
                Ok(upgraded) => serve(upgraded, place, stop).await,
                Err(error) => tracing::debug!(%error, "a page's socket did not open"),
            }
        });
        let headers = [
            (CONNECTION, "upgrade".to_owned()),
            (UPGRADE, "websocket".to_owned()),
            (SEC_WEBSOCKET_ACCEPT, accept),
        ];
        Ok((StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response())
    }
}

/// Serves the page at the other side to its end.
async fn serve(upgraded: Upgraded, place: PagePlace, stop: CancellationToken) {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ)
        .max_message_size(Some(MESSAGE_MAX))
        .max_frame_size(Some(MESSAGE_MAX));
    let stream = TokioIo::new(upgraded);
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let ended = tokio::select! {
        biased;
        () = stop.cancelled() => Ended::Stopped,
        ended = exchange(&mut socket, place) => ended,
    };
    tracing::debug!(why = %ended, "a page's socket ends");
    if tokio::time::timeout(FAREWELL, farewell(&mut socket, &ended)).await.is_err() {
        tracing::debug!("a page did not take its last message");
    }
}

/// The random name that a page gives its tab; `None`: it gives none, or an odd one.
fn tab(address: &Uri) -> Option<&str> {
    let name = address.query()?.split('&').find_map(|it| it.strip_prefix("tab="))?;
    let is_plain = (1..=TAB_MAX).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain.then_some(name)
}

/// The answer to the key of a WebSocket's handshake; `None`: the request is no such handshake.
fn key(request: &Request) -> Option<String> {
    let headers = request.headers();
    let is_handshake = *request.method() == Method::GET
        && request.version() == Version::HTTP_11
        && lists(headers, CONNECTION, "upgrade")
        && lists(headers, UPGRADE, "websocket")
        && headers.get(SEC_WEBSOCKET_VERSION).is_some_and(|it| it == "13");
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|_| is_handshake)?;
    Some(derive_accept_key(key.as_bytes()))
}

/// True if `word` is among the comma-separated values of a header.
fn lists(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let texts = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|it| it.split(',')).any(|it| it.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_of_tabs_count_as_none() {
        let named = |query: &str| {
            let address: Uri = format!("/table{query}").parse().unwrap();
            tab(&address).map(str::to_owned)
        };
        assert_eq!(named("?tab=0aZ9").as_deref(), Some("0aZ9"));
        assert_eq!(named("?x=1&tab=a").as_deref(), Some("a"));
        let long = format!("?tab={}", "a".repeat(TAB_MAX + 1));
        for odd in ["", "?", "?tab", "?tab=", "?tab=a.b", "?tab=%61", "?xtab=a", long.as_str()] {
            assert_eq!(named(odd), None, "{odd}");
        }
    }
}

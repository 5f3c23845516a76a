//! A WebSocket of a service, from its address and key to the open connection.
//!
//! Entry type: [`Handshake`]; [`Noted`] holds oddities that are logged once. The clients of services
//! name what failed in their own words. **Never**: follows a redirect; knows a service's messages.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use reqwest::{
    Client, Response, StatusCode, Upgraded, Url,
    header::{
        CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};

use super::{Error, Kind, Outbound, remote::disconnected};
use crate::domain::Secret;

/// Longest part of the answer to a refused handshake that is read, in bytes.
const REFUSAL_MAX: usize = 16 << 10;
/// Most oddities that are held.
const NOTES_MAX: usize = 32;

/// A kind of failure, what failed, and the fix.
pub type Reason = (Kind, &'static str, &'static str);

/// Opens sockets of one service with one key.
pub struct Handshake {
    http: Client,
    /// The key, unless it needs none.
    headers: HeaderMap,
}

/// A socket that could not be opened.
pub enum NotOpened {
    /// The request itself failed.
    Unanswered(reqwest::Error),
    /// The server answered with a status, these headers and this beginning of a body.
    Refused(StatusCode, Box<HeaderMap>, Vec<u8>),
    /// The server speaks no WebSocket.
    NoSocket,
}

/// The reason of [`NotOpened::NoSocket`].
const NO_SOCKET: Reason = (Kind::Protocol, "the server does not speak WebSocket", "check base_url");

impl NotOpened {
    /// Its error: of a reason, or of a status with headers and the beginning of a body.
    pub fn error(
        &self,
        error: impl FnOnce(Reason) -> Error,
        refusal: impl FnOnce(StatusCode, &HeaderMap, &[u8]) -> Error,
    ) -> Error {
        match self {
            Self::Unanswered(why) => error(unanswered(why)),
            Self::Refused(status, headers, said) => refusal(*status, headers, said),
            Self::NoSocket => error(NO_SOCKET),
        }
    }
}

impl Handshake {
    /// Handshakes with the service at `url`, an address of the operator, which is given `key` by in
    /// this header behind this word ("Bearer "). An address that cannot be used is a failure with `no_address`.
    ///
    /// # Errors
    /// An invalid address or key, or no certificates for a TLS address.
    pub fn new(
        url: &Url,
        (header, word): (HeaderName, &str),
        key: Option<&Secret>,
        no_address: Reason,
    ) -> Result<Self, Reason> {
        let builder = Outbound::public().and(url).client(url).map_err(|_| no_address)?;
        let http = builder.http1_only().build().map_err(|_| {
            let what = "no certificates to check the server with";
            (Kind::Missing, what, "install the package ca-certificates")
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = key.filter(|key| !key.0.is_empty()) {
            let mut value = HeaderValue::from_str(&format!("{word}{}", key.0)).map_err(|_| {
                let what = "the key has characters that cannot be sent";
                (Kind::Unauthorized, what, "check api_key for line ends and quotes")
            })?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(Self { http, headers })
    }

    /// Opens a socket at `url`. The caller sets the time limit. Cancel safe.
    ///
    /// # Errors
    /// No answer, a refusal, or a server that speaks no WebSocket.
    pub async fn open(&self, url: Url) -> Result<Upgraded, NotOpened> {
        let key = generate_key();
        let request = self
            .http
            .get(url)
            .headers(self.headers.clone())
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        let answer = request.send().await.map_err(NotOpened::Unanswered)?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(refused(answer).await);
        }
        let accepted = answer.headers().get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
        if accepted != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
            return Err(NotOpened::NoSocket);
        }
        answer.upgrade().await.map_err(|_| NotOpened::NoSocket)
    }
}

async fn refused(mut answer: Response) -> NotOpened {
    let mut said = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        said.extend_from_slice(&piece);
        if said.len() > REFUSAL_MAX {
            break;
        }
    }
    NotOpened::Refused(answer.status(), Box::new(answer.headers().clone()), said)
}

/// The reason of a request without an answer.
fn unanswered(error: &reqwest::Error) -> Reason {
    if error.is_timeout() {
        let fix = "try again, or raise first_byte_timeout_ms";
        return (Kind::Timeout, "no answer in time", fix);
    }
    if !error.is_connect() {
        let what = "the connection was closed before an answer";
        return (Kind::Unavailable, what, "try again");
    }
    disconnected(error)
}

/// Oddities of a service.
#[derive(Debug, Default)]
pub struct Noted(Mutex<BTreeSet<String>>);

impl Noted {
    /// Notes `what`; true if it is new. Once full, nothing is.
    pub fn is_new(&self, what: &str) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.len() < NOTES_MAX && noted.insert(what.to_owned())
    }
}

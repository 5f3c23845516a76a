//! A service's WebSocket, from address and key to the open connection.
//!
//! Entry types: [`Handshake`]; [`Noted`], oddities that are logged once. Clients phrase their own
//! errors. **Never**: follows a redirect; knows a service's messages.

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

/// Most bytes read of the answer to a refused handshake.
const REFUSAL_MAX: usize = 16 << 10;
const NOTES_MAX: usize = 32;

pub type Reason = (Kind, &'static str, &'static str);

pub struct Handshake {
    http: Client,
    /// Holds the key, if there is one.
    headers: HeaderMap,
}

pub enum NotOpened {
    Unanswered(reqwest::Error),
    Refused(StatusCode, Box<HeaderMap>, Vec<u8>),
    NoSocket,
}

const NO_SOCKET: Reason = (Kind::Protocol, "the server does not speak WebSocket", "check base_url");

impl NotOpened {
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
    /// Prepares handshakes with the service at `url`, an address of the operator. `key` is sent in
    /// this header after this prefix ("Bearer "). An invalid address fails with `no_address`.
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

    /// Sends this header too.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Requests `url` with the key; an answer other than success fails. The caller sets the time
    /// limit. Cancel safe.
    pub async fn get(&self, url: Url) -> Result<Response, NotOpened> {
        let request = self.http.get(url).headers(self.headers.clone());
        let answer = request.send().await.map_err(NotOpened::Unanswered)?;
        if answer.status().is_success() { Ok(answer) } else { Err(refused(answer).await) }
    }

    /// Opens a socket at `url`. The caller sets the time limit. Cancel safe.
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

#[derive(Debug, Default)]
pub struct Noted(Mutex<BTreeSet<String>>);

impl Noted {
    /// Records `what`; true if it is new. Always false once full.
    pub fn is_new(&self, what: &str) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.len() < NOTES_MAX && noted.insert(what.to_owned())
    }
}

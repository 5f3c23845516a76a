//! The service of one entry: its address, its key, and how a session is opened.
//!
//! Entry type: [`Client`]. **Never**: follows a redirect; keeps a session.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Response, StatusCode, Url,
    header::{
        AUTHORIZATION, CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};

use super::{
    failure::Peer,
    options::Options,
    orders,
    socket::{self, Incoming, Outgoing},
    wire::Said,
};
use crate::provider::{Error, Kind, Outbound, SpeechSetup};

/// Longest part of the answer to a refused handshake that is read, in bytes.
const REFUSAL_MAX: usize = 16 << 10;

/// A service.
pub struct Client {
    /// How it is reached.
    pub options: Options,
    /// What its errors are made with.
    pub peer: Arc<Peer>,
    http: reqwest::Client,
    url: Url,
    /// The key, unless it needs none.
    headers: HeaderMap,
}

impl Client {
    /// # Errors
    /// An invalid address or key, or no certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::new(&options));
        let no_address = || {
            let fix = "base_url is an address such as https://api.openai.com/v1";
            peer.error(Kind::InvalidRequest, "no usable address", fix)
        };
        let url = options.address().ok_or_else(no_address)?;
        // The operator has written the address down; it leads nowhere else.
        let builder = Outbound::public().and(&url).client(&url).map_err(|_| no_address())?;
        let http = builder.http1_only().build().map_err(|_| {
            let fix = "install the package ca-certificates";
            peer.error(Kind::Missing, "no certificates to check the server with", fix)
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = options.api_key.as_ref().filter(|key| !key.0.is_empty()) {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.0));
            let mut value = value.map_err(|_| {
                let what = "the key has characters that cannot be sent";
                peer.error(Kind::Unauthorized, what, "check api_key for line ends and quotes")
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(Self { options, peer, http, url, headers })
    }

    /// Opens a socket whose service has taken `setup`, within `first_byte_timeout`. Cancel safe.
    ///
    /// # Errors
    /// No connection, or the service has refused the key or the setup.
    pub async fn open(&self, setup: &SpeechSetup) -> Result<(Incoming, Outgoing), Error> {
        let opened = timeout(self.options.first_byte_timeout, self.set_up(setup)).await;
        opened.map_err(|_| self.peer.slow())?
    }

    async fn set_up(&self, setup: &SpeechSetup) -> Result<(Incoming, Outgoing), Error> {
        let connection = self.shake_hands().await?;
        let (mut incoming, mut outgoing) = socket::open(connection, &self.peer).await;
        self.wait_for(&Said::Created, &mut incoming).await?;
        outgoing.add([orders::setup(setup, &self.options)]);
        outgoing.send().await?;
        self.wait_for(&Said::Updated, &mut incoming).await?;
        Ok((incoming, outgoing))
    }

    async fn wait_for(&self, wanted: &Said, incoming: &mut Incoming) -> Result<(), Error> {
        loop {
            match incoming.next().await? {
                Said::Error(said) => return Err(self.peer.said(&said)),
                said if said == *wanted => return Ok(()),
                Said::Unknown(kind) => self.peer.notes(&format!("unknown event \"{kind}\"")),
                _ => {}
            }
        }
    }

    async fn shake_hands(&self) -> Result<reqwest::Upgraded, Error> {
        let key = generate_key();
        let request = self
            .http
            .get(self.url.clone())
            .headers(self.headers.clone())
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        let answer = request.send().await.map_err(|error| self.peer.no_answer(&error))?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(self.refused(answer).await);
        }
        let accepted = answer.headers().get(SEC_WEBSOCKET_ACCEPT).map(HeaderValue::as_bytes);
        if accepted != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
            return Err(self.peer.no_socket());
        }
        answer.upgrade().await.map_err(|_| self.peer.no_socket())
    }

    async fn refused(&self, mut answer: Response) -> Error {
        let mut said = Vec::new();
        while let Ok(Some(piece)) = answer.chunk().await {
            said.extend_from_slice(&piece);
            if said.len() > REFUSAL_MAX {
                break;
            }
        }
        self.peer.refusal(answer.status(), answer.headers(), &said)
    }

    /// Opens a session without a word and closes it, which costs nothing; says how long it took.
    ///
    /// # Errors
    /// Like [`Self::open`].
    pub async fn look(&self) -> Result<Duration, Error> {
        let begun = Instant::now();
        let setup = SpeechSetup {
            instructions: String::new(),
            voice: None,
            tools: Arc::from([]),
            max_tokens: 1,
            before: Vec::new(),
        };
        let (incoming, outgoing) = self.open(&setup).await?;
        let took = begun.elapsed();
        outgoing.close(incoming).await;
        Ok(took)
    }
}

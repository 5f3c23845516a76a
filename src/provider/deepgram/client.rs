//! The service of one entry: its address, its key, and the sockets that are open.
//!
//! Entry type: [`Client`], shared by all tables. **Never**: hears anything.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use reqwest::{
    Response, StatusCode, Url,
    header::{
        AUTHORIZATION, CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
        SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};

use super::{
    failure::Peer,
    kept::Kept,
    names::{Names, Told},
    options::{Family, Options},
    socket::Socket,
};
use crate::provider::{Error, Kind, Outbound};

/// Longest wait for one of the places of the plan.
const PLACE: Duration = Duration::from_millis(300);
/// Wait before a handshake that failed is tried once more.
const AGAIN: Duration = Duration::from_millis(200);
/// Longest part of an answer that is read of a handshake that was refused, in bytes.
const REFUSAL_MAX: usize = 16 << 10;

/// A service and the sockets to it.
pub struct Client {
    pub options: Options,
    pub peer: Arc<Peer>,
    /// Sockets that wait for their speaker.
    pub kept: Kept,
    http: reqwest::Client,
    /// The key, unless there is none.
    headers: HeaderMap,
    /// Places of the plan.
    places: Option<Arc<Semaphore>>,
    /// Tables so far.
    tables: AtomicU64,
}

impl Client {
    /// # Errors
    /// An address or key that cannot be used, or no certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::new(&options));
        let no_address = || {
            let way_out = "base_url is an address such as https://api.deepgram.com";
            peer.error(Kind::InvalidRequest, "no usable address", way_out)
        };
        let url = options.address(&[]).ok_or_else(no_address)?;
        // The operator has written the address down; it leads nowhere else.
        let builder = Outbound::public().and(&url).client(&url).map_err(|_| no_address())?;
        let http = builder.http1_only().build().map_err(|_| {
            let way_out = "install the package ca-certificates";
            peer.error(Kind::Missing, "no certificates to check the server with", way_out)
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = options.api_key.as_ref().filter(|key| !key.0.is_empty()) {
            let value = HeaderValue::from_str(&format!("Token {}", key.0));
            let mut value = value.map_err(|_| {
                let what = "the key has characters that cannot be sent";
                peer.error(Kind::Unauthorized, what, "check api_key for line ends and quotes")
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let places = options.max_streams.map(|most| Arc::new(Semaphore::new(most)));
        Ok(Self {
            options,
            peer,
            kept: Kept::default(),
            http,
            headers,
            places,
            tables: AtomicU64::new(0),
        })
    }

    /// A number for one more table.
    pub fn table(&self) -> u64 {
        self.tables.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens a socket that knows `names`, until its deadline. A handshake that fails for a reason that
    /// may pass is tried once more.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn open(&self, names: &Names) -> Result<Socket, Error> {
        let until = Instant::now() + self.options.first_byte_timeout;
        match self.connect(names, until).await {
            Err(error) => {
                let wait = match error.kind() {
                    Kind::Unreachable | Kind::Unavailable => AGAIN,
                    Kind::RateLimited { retry_after: Some(wait) } => wait,
                    _ => return Err(error),
                };
                if Instant::now() + wait >= until {
                    return Err(error);
                }
                sleep(wait).await;
                self.connect(names, until).await
            }
            opened => opened,
        }
    }

    async fn connect(&self, names: &Names, until: Instant) -> Result<Socket, Error> {
        let place = self.place().await?;
        let Some(url) = self.options.address(names) else { return Err(self.peer.no_socket()) };
        let handshake = timeout_at(until, self.shake_hands(url));
        let connection = handshake.await.map_err(|_| self.peer.slow())??;
        let told = Told::new(Arc::clone(names), self.options.takes_names());
        Ok(Socket::new(connection, Arc::clone(&self.peer), told, place).await)
    }

    async fn shake_hands(&self, url: Url) -> Result<reqwest::Upgraded, Error> {
        let key = generate_key();
        let request = self
            .http
            .get(url)
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

    /// One of the places of the plan; a socket that only waits for its speaker gives its own up.
    async fn place(&self) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let Some(places) = &self.places else { return Ok(None) };
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Ok(Some(place));
        }
        self.kept.give_one_up();
        let place = timeout(PLACE, Arc::clone(places).acquire_owned()).await;
        match place {
            Ok(Ok(place)) => Ok(Some(place)),
            _ => Err(self.peer.full(self.options.max_streams.unwrap_or_default())),
        }
    }

    /// Looks whether the service takes the key and the model, and how long that takes.
    ///
    /// # Errors
    /// Why it cannot be used, and the way out.
    pub async fn look(&self) -> Result<Duration, Error> {
        let begun = Instant::now();
        let until = begun + self.options.first_byte_timeout;
        let mut socket = self.connect(&Names::from([]), until).await?;
        // Flux greets; Nova says nothing before its farewell.
        if self.options.family() == Family::Nova {
            socket.order("CloseStream").await?;
        }
        timeout_at(until, socket.next()).await.map_err(|_| self.peer.slow())??;
        let took = begun.elapsed();
        socket.close().await;
        Ok(took)
    }
}

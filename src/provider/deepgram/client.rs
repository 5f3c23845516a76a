//! The service of one entry, shared by all tables: its address, its key and its open sockets.
//!
//! Entry type: [`Client`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use reqwest::header::AUTHORIZATION;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use super::{
    failure::Peer,
    kept::Kept,
    names::{Names, Told},
    options::{Family, Options},
    socket::Socket,
};
use crate::provider::{
    Error, Kind,
    sockets::{Handshake, NotOpened},
};

/// Longest wait for one of the plan's streams.
const PLACE: Duration = Duration::from_millis(300);
/// Delay before a failed handshake is retried once.
const AGAIN: Duration = Duration::from_millis(200);

pub struct Client {
    pub options: Options,
    pub peer: Arc<Peer>,
    pub kept: Kept,
    handshake: Handshake,
    places: Option<Arc<Semaphore>>,
    /// Number of voices that wait for one of them.
    waiting: watch::Sender<usize>,
    tables: AtomicU64,
}

impl Client {
    /// Fails for an unusable address or key, or without certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Arc::new(Peer::new(&options));
        let no_address = (
            Kind::InvalidRequest,
            "no usable address",
            "set base_url to an address such as https://api.deepgram.com",
        );
        let failed = |(kind, what, fix)| peer.error(kind, what, fix);
        let url = options.address(&[]).ok_or_else(|| failed(no_address))?;
        let key = options.api_key.as_ref();
        let handshake =
            Handshake::new(&url, (AUTHORIZATION, "Token "), key, no_address).map_err(failed)?;
        let places = options.max_streams.map(|most| Arc::new(Semaphore::new(most)));
        Ok(Self {
            options,
            peer,
            kept: Kept::default(),
            handshake,
            places,
            waiting: watch::Sender::new(0),
            tables: AtomicU64::new(0),
        })
    }

    pub fn table(&self) -> u64 {
        self.tables.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens a socket with `names` before the deadline. `again`: retries a handshake once if its
    /// failure may pass.
    pub async fn open(&self, names: &Names, again: bool) -> Result<Socket, Error> {
        let until = Instant::now() + self.options.first_byte_timeout;
        match self.connect(names, until).await {
            Err(error) if again => {
                let wait = match error.kind() {
                    Kind::Unreachable | Kind::Unavailable => AGAIN,
                    Kind::RateLimited { retry_after: Some(wait) }
                    | Kind::Crowded { retry_after: Some(wait) } => wait,
                    _ => return Err(error),
                };
                // Not added to the time: the service may ask for any wait.
                if wait >= until.saturating_duration_since(Instant::now()) {
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
        let Some(url) = self.options.address(names) else {
            return Err(self.peer.not_opened(&NotOpened::NoSocket));
        };
        let connection = timeout_at(until, self.handshake.open(url)).await;
        let connection = connection.map_err(|_| self.peer.slow())?;
        let connection = connection.map_err(|why| self.peer.not_opened(&why))?;
        let told = Told::new(Arc::clone(names), self.options.takes_names());
        Ok(Socket::new(connection, Arc::clone(&self.peer), told, place).await)
    }

    /// Resolves at `from` or later, once a voice waits for a stream. Cancel safe.
    pub async fn is_short_from(&self, from: Instant) {
        sleep_until(from).await;
        let _ = self.waiting.subscribe().wait_for(|count| *count > 0).await;
    }

    /// Takes one of the plan's streams; closes an idle socket if none is free.
    async fn place(&self) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let Some(places) = &self.places else { return Ok(None) };
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Ok(Some(place));
        }
        self.kept.give_one_up();
        let _waits = Waits::begun(&self.waiting);
        let place = timeout(PLACE, Arc::clone(places).acquire_owned()).await;
        match place {
            Ok(Ok(place)) => Ok(Some(place)),
            _ => Err(self.peer.full(self.options.max_streams.unwrap_or_default())),
        }
    }

    /// Checks that the service accepts the key and the model; returns how long that takes.
    pub async fn look(&self) -> Result<Duration, Error> {
        let begun = Instant::now();
        let until = begun + self.options.first_byte_timeout;
        let mut socket = self.connect(&Names::from([]), until).await?;
        // Flux greets; Nova is silent until its last message.
        if self.options.family() == Family::Nova {
            socket.order("CloseStream").await?;
        }
        timeout_at(until, socket.next()).await.map_err(|_| self.peer.slow())??;
        let took = begun.elapsed();
        socket.close().await;
        Ok(took)
    }
}

/// A voice that waits for a stream, until dropped.
struct Waits<'c>(&'c watch::Sender<usize>);

impl<'c> Waits<'c> {
    fn begun(waiting: &'c watch::Sender<usize>) -> Self {
        waiting.send_modify(|count| *count += 1);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

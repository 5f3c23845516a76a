//! The sockets of one service, shared by all tables.
//!
//! Entry type: [`Service`].

use std::{sync::Arc, time::Duration};

use reqwest::Url;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    dialect::{Dialect, SocketFailure},
    idle::Idle,
    link::Link,
    stream::Socket,
};
use crate::provider::{Error, Kind};

/// Longest wait for one of the plan's streams.
const PLACE: Duration = Duration::from_millis(300);
/// Delay before a failed handshake is retried once.
const AGAIN: Duration = Duration::from_millis(200);
/// Longest wait for the last sound of a turn that has ended.
const PARTING: Duration = Duration::from_secs(2);

pub struct Service {
    pub dialect: Box<dyn Dialect>,
    pub idle: Idle,
    places: Option<Arc<Semaphore>>,
}

pub struct Opened {
    pub address: Url,
    pub socket: Socket,
    /// It was idle.
    pub is_kept: bool,
}

impl Service {
    pub fn new(dialect: impl Dialect) -> Self {
        let places = dialect.limits().max_streams.map(|most| Arc::new(Semaphore::new(most)));
        Self { dialect: Box::new(dialect), idle: Idle::default(), places }
    }

    /// An idle socket with this address, or a new one. `is_only`: without a retry.
    pub async fn take(self: Arc<Self>, address: Url, is_only: bool) -> Result<Opened, Error> {
        match self.idle.take(&address).await {
            Some(socket) => Ok(Opened { address, socket, is_kept: true }),
            None => self.open(address, is_only).await,
        }
    }

    /// Opens a socket. Retries a handshake once if its failure may pass.
    pub async fn open(&self, address: Url, is_only: bool) -> Result<Opened, Error> {
        let until = Instant::now() + self.dialect.limits().first_byte_timeout;
        let socket = match self.connect(&address, until).await {
            Err(error) if !is_only => {
                let wait = match error.kind() {
                    Kind::Unreachable | Kind::Unavailable => AGAIN,
                    Kind::RateLimited { retry_after: Some(wait) }
                    | Kind::Crowded { retry_after: Some(wait) } => wait,
                    _ => return Err(error),
                };
                if wait >= until.saturating_duration_since(Instant::now()) {
                    return Err(error);
                }
                sleep(wait).await;
                self.connect(&address, until).await?
            }
            opened => opened?,
        };
        Ok(Opened { address, socket, is_kept: false })
    }

    /// Opens a socket ahead of a turn. Succeeds where all streams are in use: the service works.
    pub async fn warm(self: Arc<Self>, address: Url) -> Result<(), Error> {
        if self.idle.has(&address) {
            return Ok(());
        }
        match self.open(address, false).await {
            Ok(Opened { address, socket, .. }) => {
                self.keep(address, socket);
                Ok(())
            }
            Err(error) if matches!(error.kind(), Kind::Crowded { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends a turn with these messages, and keeps its socket for another one if no sound of it can
    /// come within two seconds; `None`: closes it.
    pub async fn part(self: Arc<Self>, mut link: Link, messages: Option<Vec<Message>>) {
        let is_freed = match messages {
            Some(messages) => {
                link.socket.send(messages);
                timeout(PARTING, link.freed()).await.unwrap_or_default()
            }
            None => false,
        };
        if is_freed {
            self.keep(link.address, link.socket);
        } else {
            link.socket.close().await;
        }
    }

    fn keep(&self, address: Url, socket: Socket) {
        self.idle.put(address, socket, self.dialect.keep_alive());
    }

    async fn connect(&self, address: &Url, until: Instant) -> Result<Socket, Error> {
        let place = self.place().await?;
        let opening = self.dialect.handshake().open(address.clone());
        match timeout_at(until, opening).await {
            Ok(Ok(connection)) => Ok(Socket::new(connection, place).await),
            Ok(Err(why)) => Err(self.dialect.failure(SocketFailure::NotOpened(&why))),
            Err(_) => Err(self.dialect.failure(SocketFailure::Slow)),
        }
    }

    /// Takes one of the plan's streams; closes an idle socket if none is free.
    async fn place(&self) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let Some(places) = &self.places else { return Ok(None) };
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Ok(Some(place));
        }
        self.idle.give_one_up();
        match timeout(PLACE, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(Some(place)),
            _ => {
                let most = self.dialect.limits().max_streams.unwrap_or_default();
                Err(self.dialect.failure(SocketFailure::Full(most)))
            }
        }
    }
}

//! One connection to a Wyoming service.
//!
//! Entry function: [`connect`]. Dropping both ends closes it, which cancels the request. Sending
//! has a time limit; receivers bring their own.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{Instant, timeout, timeout_at},
};

use super::{
    event::{Decoder, Event},
    failure::Peer,
};
use crate::provider::Error;

const CONNECT: Duration = Duration::from_secs(5);

pub struct Sender {
    stream: OwnedWriteHalf,
    peer: Peer,
    patience: Duration,
}

pub struct Receiver {
    stream: OwnedReadHalf,
    decoder: Decoder,
    peer: Peer,
    sent: String,
}

/// Connects to `peer`; each send may take `patience`.
pub async fn connect(peer: &Peer, patience: Duration) -> Result<(Sender, Receiver), Error> {
    let stream = timeout(CONNECT, TcpStream::connect(peer.host())).await;
    let stream = stream.map_err(|_| peer.slow())?.map_err(|error| peer.no_connection(&error))?;
    // Without this, small events wait for each other; it only fails on closed sockets.
    let _ = stream.set_nodelay(true);
    let (read, write) = stream.into_split();
    let peer = peer.clone();
    let to = Sender { stream: write, peer: peer.clone(), patience };
    Ok((to, Receiver { stream: read, decoder: Decoder::default(), peer, sent: String::new() }))
}

impl Sender {
    pub async fn send(&mut self, event: &Event) -> Result<(), Error> {
        let sent = timeout(self.patience, self.stream.write_all(&event.bytes())).await;
        let sent = sent.map_err(|_| self.peer.full())?;
        sent.map_err(|_| self.peer.interrupted("all was sent"))
    }
}

impl Receiver {
    /// Keeps `text` out of this connection's errors.
    pub fn hiding(mut self, text: &str) -> Self {
        text.clone_into(&mut self.sent);
        self
    }

    /// The next event; `None`: the service has closed the connection. Cancel safe. Fails for bytes
    /// that are no event, and for an event of type `error`.
    pub async fn event(&mut self) -> Result<Option<Event>, Error> {
        loop {
            let event = self.decoder.event().map_err(|wrong| self.peer.malformed(&wrong))?;
            match event {
                Some(event) if event.kind == "error" => {
                    return Err(self.peer.failed(event.text("text").unwrap_or(""), &self.sent));
                }
                Some(event) => return Ok(Some(event)),
                None => {}
            }
            // A connection reset is an end, too.
            let read = self.stream.read_buf(self.decoder.room()).await;
            if read.unwrap_or_default() == 0 {
                return Ok(None);
            }
        }
    }

    /// Like [`Self::event`], but fails at `until`, even among events without a pause.
    pub async fn event_by(&mut self, until: Instant) -> Result<Option<Event>, Error> {
        // The clock first: events read already would starve it.
        if until <= Instant::now() {
            return Err(self.peer.slow());
        }
        timeout_at(until, self.event()).await.map_err(|_| self.peer.slow())?
    }
}

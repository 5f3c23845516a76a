//! One WebSocket of a service: messages out, messages in, at the same time.
//!
//! Entry types: [`Incoming`], [`Outgoing`]. Text and binary frames are read alike, and pings are
//! answered while reading. **Never**: stops reading because a message waits to be sent.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{
    SinkExt, StreamExt,
    future::poll_fn,
    stream::{SplitSink, SplitStream},
};
use reqwest::Upgraded;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Bytes, Message,
        protocol::{Role, WebSocketConfig},
    },
};

use super::peer::Peer;
use crate::provider::Error;

/// Longest message that is read, in bytes: much sound comes in one.
const MESSAGE_MAX: usize = 4 << 20;
/// Longest wait until a message has left.
const SEND: Duration = Duration::from_secs(10);
/// Longest wait for the end of a socket that closes.
const CLOSE: Duration = Duration::from_secs(1);

/// The half that reads.
pub struct Incoming {
    stream: SplitStream<WebSocketStream<Upgraded>>,
    peer: Arc<Peer>,
}

/// The half that sends.
pub struct Outgoing {
    sink: SplitSink<WebSocketStream<Upgraded>, Message>,
    /// Messages that wait, oldest first.
    waiting: VecDeque<String>,
    /// A message was handed over and may not have left.
    is_unflushed: bool,
    /// Deadline for sending the current message.
    until: Instant,
    peer: Arc<Peer>,
}

/// Takes over a connection to `peer` that has agreed to be a WebSocket.
pub async fn open(connection: Upgraded, peer: &Arc<Peer>) -> (Incoming, Outgoing) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_MAX))
        .max_frame_size(Some(MESSAGE_MAX));
    let socket = WebSocketStream::from_raw_socket(connection, Role::Client, Some(config)).await;
    let (sink, stream) = socket.split();
    let incoming = Incoming { stream, peer: Arc::clone(peer) };
    let outgoing = Outgoing {
        sink,
        waiting: VecDeque::new(),
        is_unflushed: false,
        until: Instant::now(),
        peer: Arc::clone(peer),
    };
    (incoming, outgoing)
}

impl Incoming {
    /// The next message. Cancel safe.
    ///
    /// # Errors
    /// The socket is gone, or was closed by the service.
    pub async fn next(&mut self) -> Result<Bytes, Error> {
        loop {
            let message = match self.stream.next().await {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Err(self.peer.broken(&error)),
                None => return Err(self.peer.interrupted()),
            };
            match message {
                Message::Text(text) => return Ok(text.into()),
                Message::Binary(bytes) => return Ok(bytes),
                Message::Close(frame) => return Err(self.peer.closed(frame.as_ref())),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}

impl Outgoing {
    /// Has messages wait to be sent.
    pub fn add(&mut self, messages: impl IntoIterator<Item = String>) {
        let was_idle = self.is_idle();
        self.waiting.extend(messages);
        if was_idle {
            self.until = Instant::now() + SEND;
        }
    }

    /// True if all has left.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.is_unflushed
    }

    /// Sends what waits, until all has left. Cancel safe.
    ///
    /// # Errors
    /// The socket is gone, or one message has not left in 10 s.
    pub async fn send(&mut self) -> Result<(), Error> {
        while !self.is_idle() {
            let step = timeout_at(self.until, self.step()).await;
            step.map_err(|_| self.peer.stuck(SEND))?.map_err(|error| self.peer.broken(&error))?;
            self.until = Instant::now() + SEND;
        }
        Ok(())
    }

    /// Hands one message over, or has the last one leave.
    async fn step(&mut self) -> Result<(), tungstenite::Error> {
        if self.waiting.is_empty() {
            self.sink.flush().await?;
            self.is_unflushed = false;
            return Ok(());
        }
        poll_fn(|context| self.sink.poll_ready_unpin(context)).await?;
        // Taken only now, so that none is lost if this future is dropped.
        if let Some(message) = self.waiting.pop_front() {
            self.is_unflushed = true;
            self.sink.start_send_unpin(Message::text(message))?;
        }
        Ok(())
    }

    /// Ends the socket in good order, within a second.
    pub async fn close(mut self, mut incoming: Incoming) {
        let ending = async {
            let _ = self.sink.close().await;
            // The service's farewell; what it says besides comes too late.
            while incoming.stream.next().await.is_some_and(|message| message.is_ok()) {}
        };
        let _ = timeout(CLOSE, ending).await;
    }
}

//! One WebSocket of a service, reading and writing at the same time.
//!
//! Entry types: [`Incoming`], [`Outgoing`]. Reads text and binary frames alike; pings are answered
//! while reading. **Never**: stops reading because a message waits to be sent.

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

/// Longest message that is read, in bytes; one may hold much sound.
const MESSAGE_MAX: usize = 4 << 20;
/// Longest wait for a message to leave.
const SEND: Duration = Duration::from_secs(10);
/// Longest wait for the end of a closing socket.
const CLOSE: Duration = Duration::from_secs(1);

pub struct Incoming {
    stream: SplitStream<WebSocketStream<Upgraded>>,
    peer: Arc<Peer>,
}

pub struct Outgoing {
    sink: SplitSink<WebSocketStream<Upgraded>, Message>,
    /// Queued messages, oldest first.
    waiting: VecDeque<String>,
    /// A message was handed over and may not have left.
    is_unflushed: bool,
    until: Instant,
    peer: Arc<Peer>,
}

/// Takes over a connection that was upgraded to a WebSocket.
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
    /// The next message. Cancel safe. Fails when the socket is closed.
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
    pub fn add(&mut self, messages: impl IntoIterator<Item = String>) {
        let was_idle = self.is_idle();
        self.waiting.extend(messages);
        if was_idle {
            self.until = Instant::now() + SEND;
        }
    }

    /// True if every message has left.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.is_unflushed
    }

    /// Sends queued messages. Cancel safe. Fails when the socket is closed or a message takes over
    /// 10 s.
    pub async fn send(&mut self) -> Result<(), Error> {
        while !self.is_idle() {
            let step = timeout_at(self.until, self.step()).await;
            step.map_err(|_| self.peer.stuck(SEND))?.map_err(|error| self.peer.broken(&error))?;
            self.until = Instant::now() + SEND;
        }
        Ok(())
    }

    /// Hands one message over, or flushes the last one.
    async fn step(&mut self) -> Result<(), tungstenite::Error> {
        if self.waiting.is_empty() {
            self.sink.flush().await?;
            self.is_unflushed = false;
            return Ok(());
        }
        poll_fn(|context| self.sink.poll_ready_unpin(context)).await?;
        // Taken only now: dropping this future loses no message.
        if let Some(message) = self.waiting.pop_front() {
            self.is_unflushed = true;
            self.sink.start_send_unpin(Message::text(message))?;
        }
        Ok(())
    }

    /// Closes the socket properly, within a second.
    pub async fn close(mut self, mut incoming: Incoming) {
        let ending = async {
            let _ = self.sink.close().await;
            // Reads up to the service's close frame; anything else comes too late.
            while incoming.stream.next().await.is_some_and(|message| message.is_ok()) {}
        };
        let _ = timeout(CLOSE, ending).await;
    }
}

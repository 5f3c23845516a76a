//! One WebSocket of the service: sound and orders out, messages in.
//!
//! Entry type: [`Socket`]. Text and binary frames are read alike; messages are counted by utterance, those
//! without a meaning too. **Never**: decides what is said when.

use std::{sync::Arc, time::Duration};

use futures::{SinkExt, StreamExt};
use reqwest::Upgraded;
use serde_json::{Value, json};
use tokio::{sync::OwnedSemaphorePermit, time::timeout};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        protocol::{Role, WebSocketConfig},
    },
};

use super::{
    failure::Peer,
    names::{Names, Told},
    wire::Said,
};
use crate::provider::{
    Error,
    bounds::{ANSWER, Bound, Count, EVENTS},
};

/// Longest message that is read, in bytes.
const MESSAGE_MAX: usize = 1 << 20;
/// Longest wait until what is sent has left.
const SEND: Duration = Duration::from_secs(5);
/// Longest wait for the end of a socket that closes.
const CLOSE: Duration = Duration::from_secs(1);
/// Bytes of a second of sound.
const BYTES_PER_SECOND: f64 = 32_000.0;

/// An open socket, and its place among those of the plan.
pub struct Socket {
    stream: WebSocketStream<Upgraded>,
    peer: Arc<Peer>,
    told: Told,
    /// Number of the next message, where the service counts them.
    next: Option<u64>,
    /// Bytes of sound that were sent.
    sent: usize,
    /// Messages of this utterance, and their bytes.
    events: Count,
    read: Count,
    _place: Option<OwnedSemaphorePermit>,
}

impl Socket {
    /// Takes over a connection to `peer` that has agreed to be one; `told` is what it knows.
    pub async fn new(
        connection: Upgraded,
        peer: Arc<Peer>,
        told: Told,
        place: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_MAX))
            .max_frame_size(Some(MESSAGE_MAX));
        let stream = WebSocketStream::from_raw_socket(connection, Role::Client, Some(config)).await;
        let (events, read) = (Count::within(EVENTS), Count::within(ANSWER));
        Self { stream, peer, told, next: None, sent: 0, events, read, _place: place }
    }

    /// Counts messages from here on as those of another utterance.
    pub const fn begin(&mut self) {
        (self.events, self.read) = (Count::within(EVENTS), Count::within(ANSWER));
    }

    /// Sends sound, 16-bit samples; nothing at all would be a sign to close.
    ///
    /// # Errors
    /// The socket is gone, or takes nothing.
    pub async fn sound(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.sent += bytes.len();
        self.send(Message::binary(bytes.to_vec())).await
    }

    /// Seconds of sound that were sent.
    pub fn seconds(&self) -> f64 {
        self.sent as f64 / BYTES_PER_SECOND
    }

    /// Sends an order that has nothing but its name.
    ///
    /// # Errors
    /// Those of [`Self::sound`].
    pub async fn order(&mut self, name: &str) -> Result<(), Error> {
        self.say(&json!({ "type": name })).await
    }

    /// Has the service know `names`, unless it does, or is being told others.
    ///
    /// # Errors
    /// Those of [`Self::sound`].
    pub async fn tell(&mut self, names: &Names) -> Result<(), Error> {
        match self.told.change(names) {
            Some(change) => self.say(&change).await,
            None => Ok(()),
        }
    }

    async fn say(&mut self, order: &Value) -> Result<(), Error> {
        self.send(Message::text(order.to_string())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Error> {
        match timeout(SEND, self.stream.send(message)).await {
            Ok(sent) => sent.map_err(|error| self.peer.broken(&error)),
            Err(_) => Err(self.peer.silent()),
        }
    }

    /// The next message that says something. Cancel safe.
    ///
    /// # Errors
    /// The socket is gone, the service has given up, or it sends more than [`EVENTS`] or [`ANSWER`].
    pub async fn next(&mut self) -> Result<Said, Error> {
        let peer = &self.peer;
        loop {
            let message = match self.stream.next().await {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Err(peer.broken(&error)),
                None => return Err(peer.interrupted()),
            };
            let counted = self.events.add(1).and_then(|()| self.read.add(message.len()));
            counted.map_err(|bound| peer.flooding(bound))?;
            let bytes = match &message {
                Message::Text(text) => text.as_bytes(),
                Message::Binary(bytes) => bytes.as_ref(),
                Message::Close(frame) => return Err(peer.closed(frame.as_ref())),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            };
            let (said, number) = Said::read(bytes);
            if let Some(number) = number {
                if self.next.is_some_and(|next| next != number) {
                    peer.notes("messages are missing");
                }
                self.next = Some(number.saturating_add(1));
            }
            match said {
                Said::Error { code, text } => return Err(peer.said(&code, &text)),
                Said::Configured => self.told.answered(),
                Said::NotConfigured(code) => {
                    self.told.answered();
                    peer.notes(&format!("names refused: {code}"));
                }
                Said::Warning(code) => peer.notes(&format!("warning {code}")),
                Said::Unknown(kind) => peer.notes(&format!("unknown message {kind}")),
                Said::Garbled => peer.notes("a message that is not a JSON object"),
                Said::Known => {}
                said => return Ok(said),
            }
        }
    }

    /// The error of a service that sends more than `bound`.
    pub fn flooding(&self, bound: Bound) -> Error {
        self.peer.flooding(bound)
    }

    /// Ends the socket in good order.
    pub async fn close(mut self) {
        let ending = async {
            let _ = self.order("CloseStream").await;
            let _ = self.stream.close(None).await;
        };
        let _ = timeout(CLOSE, ending).await;
    }
}

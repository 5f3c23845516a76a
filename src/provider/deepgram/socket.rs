//! One WebSocket of the service: sound and orders out, messages in.
//!
//! Entry type: [`Socket`]. Reads text and binary frames alike; counts all messages by utterance.

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
/// Longest wait for a message to leave.
const SEND: Duration = Duration::from_secs(5);
/// Longest wait for the end of a closing socket.
const CLOSE: Duration = Duration::from_secs(1);
/// At 16 kHz, 16-bit mono.
const BYTES_PER_SECOND: f64 = 32_000.0;

/// An open socket, and its share of the plan's streams.
pub struct Socket {
    stream: WebSocketStream<Upgraded>,
    peer: Arc<Peer>,
    told: Told,
    /// Number of the next message, where the service numbers them.
    next: Option<u64>,
    sent: usize,
    events: Count,
    read: Count,
    _place: Option<OwnedSemaphorePermit>,
}

impl Socket {
    /// Takes over an upgraded connection to `peer`; `told`: names it knows.
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

    pub const fn begin(&mut self) {
        (self.events, self.read) = (Count::within(EVENTS), Count::within(ANSWER));
    }

    /// Sends 16-bit samples; empty sound would close the socket.
    pub async fn sound(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.sent += bytes.len();
        self.send(Message::binary(bytes.to_vec())).await
    }

    pub fn seconds(&self) -> f64 {
        self.sent as f64 / BYTES_PER_SECOND
    }

    pub async fn order(&mut self, name: &str) -> Result<(), Error> {
        self.say(&json!({ "type": name })).await
    }

    /// Sends `names` unless the service has them or has not answered the last change.
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

    /// The next message with content. Cancel safe. Fails if the socket is closed, the service gives
    /// up, or it sends more than [`EVENTS`] or [`ANSWER`].
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

    pub fn flooding(&self, bound: Bound) -> Error {
        self.peer.flooding(bound)
    }

    pub async fn close(mut self) {
        let ending = async {
            let _ = self.order("CloseStream").await;
            let _ = self.stream.close(None).await;
        };
        let _ = timeout(CLOSE, ending).await;
    }
}

//! One WebSocket of a voice service, which reads and writes at the same time.
//!
//! Entry type: [`Socket`]. Pings are answered while reading. **Never**: stops reading because a
//! message waits to be sent; knows a service's messages.

use std::{
    collections::VecDeque,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{SinkExt, StreamExt, future::poll_fn};
use reqwest::Upgraded;
use tokio::{sync::OwnedSemaphorePermit, time::timeout};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        protocol::{CloseFrame, Role, WebSocketConfig},
    },
};

use super::dialect::SocketFailure;

/// Longest message that is read, in bytes; one may hold much sound.
const MESSAGE_MAX: usize = 4 << 20;
/// Most pings and the like that are read at a time: a flood of them would hold the thread.
const AT_A_TIME: usize = 64;
/// Longest wait for the end of a closing socket.
const CLOSE: Duration = Duration::from_secs(1);

/// An open socket, and its share of the plan's streams.
pub struct Socket {
    stream: WebSocketStream<Upgraded>,
    /// Messages to be sent, oldest first.
    waiting: VecDeque<Message>,
    /// A message was handed over and may not have left.
    is_unflushed: bool,
    /// Nothing can be sent any more; the service's reason may still be read.
    is_deaf: bool,
    _place: Option<OwnedSemaphorePermit>,
}

/// The end of a socket.
#[derive(Debug)]
pub enum SocketEnd {
    /// With the service's code and reason, if it gave one.
    Closed(Option<CloseFrame>),
    Broken(tungstenite::Error),
}

impl SocketEnd {
    pub const fn failure(&self) -> SocketFailure<'_> {
        match self {
            Self::Closed(frame) => SocketFailure::Closed(frame.as_ref()),
            Self::Broken(error) => SocketFailure::Broken(error),
        }
    }
}

impl Socket {
    /// Takes over an upgraded connection.
    pub async fn new(connection: Upgraded, place: Option<OwnedSemaphorePermit>) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_MAX))
            .max_frame_size(Some(MESSAGE_MAX));
        let stream = WebSocketStream::from_raw_socket(connection, Role::Client, Some(config)).await;
        let waiting = VecDeque::new();
        Self { stream, waiting, is_unflushed: false, is_deaf: false, _place: place }
    }

    /// Queues messages, which leave during [`Self::next`].
    pub fn send(&mut self, messages: impl IntoIterator<Item = Message>) {
        self.waiting.extend(messages);
    }

    /// The next text or binary message; sends what waits meanwhile. Cancel safe.
    pub async fn next(&mut self) -> Result<Message, SocketEnd> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, SocketEnd>> {
        if !self.is_deaf && matches!(self.poll_send(context), Poll::Ready(Err(_))) {
            self.is_deaf = true;
        }
        for _ in 0..AT_A_TIME {
            match ready!(self.stream.poll_next_unpin(context)) {
                Some(Ok(Message::Close(frame))) => {
                    return Poll::Ready(Err(SocketEnd::Closed(frame)));
                }
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => {
                    return Poll::Ready(Ok(message));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(SocketEnd::Broken(error))),
                None => return Poll::Ready(Err(SocketEnd::Closed(None))),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Hands over what waits, and flushes it.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<(), tungstenite::Error>> {
        while !self.waiting.is_empty() {
            ready!(self.stream.poll_ready_unpin(context))?;
            if let Some(message) = self.waiting.pop_front() {
                self.is_unflushed = true;
                self.stream.start_send_unpin(message)?;
            }
        }
        if self.is_unflushed {
            ready!(self.stream.poll_flush_unpin(context))?;
            self.is_unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends what waits. Cancel safe.
    pub async fn flush(&mut self) -> Result<(), SocketEnd> {
        poll_fn(|context| self.poll_send(context)).await.map_err(SocketEnd::Broken)
    }

    /// Closes the socket properly, within a second.
    pub async fn close(mut self) {
        // Reads up to the service's close frame; anything else comes too late.
        let ending = async {
            let _ = self.stream.close(None).await;
            while self.stream.next().await.is_some_and(|message| message.is_ok()) {}
        };
        let _ = timeout(CLOSE, ending).await;
    }
}

//! A socket that serves a turn.
//!
//! Entry type: [`Link`].

use futures::FutureExt;
use reqwest::Url;
use tokio_tungstenite::tungstenite::Message;

use super::{
    dialect::{LineEvent, TurnMessages},
    stream::{Socket, SocketEnd},
};
use crate::provider::bounds::{Count, EVENTS};

pub struct Link {
    pub address: Url,
    pub socket: Socket,
    pub line: Box<dyn TurnMessages>,
    /// The service may have closed it unnoticed: nothing was read since it was idle.
    pub may_be_stale: bool,
    /// The messages behind the last sentence are sent.
    pub is_finished: bool,
    /// No sound of the turn can come any more.
    pub is_free: bool,
    /// Messages of the current sentence.
    pub messages: Count,
}

impl Link {
    pub fn new(
        address: Url,
        socket: Socket,
        line: Box<dyn TurnMessages>,
        may_be_stale: bool,
    ) -> Self {
        let messages = Count::within(EVENTS);
        Self { address, socket, line, may_be_stale, is_finished: false, is_free: false, messages }
    }

    /// Begins another turn of the service within ours, whose earlier sentences are spoken.
    pub fn renew(&mut self, line: Box<dyn TurnMessages>) {
        (self.line, self.is_free, self.is_finished) = (line, false, false);
    }

    /// Resolves once the socket may serve another turn; false: never.
    pub async fn freed(&mut self) -> bool {
        self.messages = Count::within(EVENTS);
        while !self.is_free && !self.line.is_free() {
            let read = self.socket.next().await;
            if !self.passes(read) {
                return false;
            }
        }
        self.socket.flush().await.is_ok()
    }

    /// Reads what has come while no sentence was awaited; false if the socket is of no more use.
    pub fn catch_up(&mut self) -> bool {
        while let Some(read) = self.socket.next().now_or_never() {
            if !self.passes(read) {
                return false;
            }
        }
        true
    }

    /// Takes what belongs to no sentence; false at the end of the socket.
    fn passes(&mut self, read: Result<Message, SocketEnd>) -> bool {
        let Ok(message) = read else { return false };
        if self.messages.add(1).is_err() {
            return false;
        }
        let Ok(events) = self.line.read(&message) else { return false };
        self.is_free |= events.contains(&LineEvent::Free);
        true
    }
}

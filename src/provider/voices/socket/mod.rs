//! Voice services that stream over a WebSocket.
//!
//! Entry types: [`Dialect`], one service's messages, and [`Line`], those of one turn. A socket
//! serves one turn at a time and is kept for the next one with the same address.

use std::sync::Arc;

use tokio_tungstenite::tungstenite::Message;

use crate::provider::{Error, Pcm, Sentence, SynthesisSetup, WordEnd, sockets::Handshake};

/// The messages of a voice service.
pub trait Dialect: Send + Sync + 'static {
    /// Short name for logs and reports ("elevenlabs").
    fn name(&self) -> &'static str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    fn handshake(&self) -> &Handshake;

    /// Path and query below the service's address. Sockets with equal ones serve each other's
    /// turns. Fails if the service cannot have the voice.
    fn address(&self, setup: &SynthesisSetup) -> Result<String, Error>;

    /// Messages of the next turn on a socket.
    fn line(&self, setup: &SynthesisSetup) -> Box<dyn Line>;

    /// The error of a refused handshake, or of a socket that ended.
    fn failure(&self, failure: SocketFailure) -> Error;

    /// Message that keeps an idle socket open; `None`: it is closed when idle.
    fn keep_alive(&self) -> Option<Message>;
}

/// The messages of one turn.
pub trait Line: Send {
    /// Messages that have `sentence` spoken.
    fn say(&mut self, sentence: &Sentence) -> Vec<Message>;

    /// Messages behind the last sentence.
    fn finish(&mut self) -> Vec<Message>;

    /// Messages that end the turn early; `None`: only closing the socket does.
    fn cancel(&mut self) -> Option<Vec<Message>>;

    /// Reads a message of the service.
    ///
    /// # Errors
    /// The service's own. The socket is closed.
    fn read(&mut self, message: &Message) -> Result<Vec<LineEvent>, Error>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum LineEvent {
    /// Sound of the first sentence that is not done.
    Sound(Pcm),
    Word(WordEnd),
    /// The sentence is spoken.
    Done,
    /// The socket may serve another turn: after [`Line::finish`] or [`Line::cancel`], once no sound
    /// of this turn can come.
    Free,
}

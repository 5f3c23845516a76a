//! The messages of a voice service on a WebSocket.
//!
//! Entry types: [`Dialect`], one service, and [`TurnMessages`], one turn of it. **Never**: sends or
//! waits.

use std::time::Duration;

use reqwest::{StatusCode, Url, header::HeaderMap};
use tokio_tungstenite::tungstenite::{self, Message, protocol::CloseFrame};

use crate::{
    domain::Voice,
    provider::{
        Error, Pcm, Sentence, SynthesisSetup, WordEnd,
        bounds::Bound,
        sockets::{Handshake, NotOpened},
    },
};

/// The messages of a voice service.
pub trait Dialect: Send + Sync + 'static {
    /// Short name for logs and reports ("elevenlabs").
    fn name(&self) -> &'static str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    fn limits(&self) -> Limits;

    fn handshake(&self) -> &Handshake;

    /// Address of a socket for a turn. Sockets with equal ones serve each other's turns. Fails if
    /// the service cannot have the voice. The language is empty when a socket is opened ahead.
    fn address(&self, setup: &SynthesisSetup) -> Result<Url, Error>;

    /// Speed at which the service itself speaks `voice`; the rest of the voice's speed, and its
    /// pitch, is applied to the sound.
    fn speed(&self, _voice: &Voice) -> f32 {
        1.0
    }

    /// Messages of the next turn on a socket.
    fn line(&self, setup: &SynthesisSetup) -> Box<dyn TurnMessages>;

    fn failure(&self, failure: SocketFailure<'_>) -> Error;

    /// Message that keeps an idle socket open, and the time between two of them; `None`: it stays
    /// open without.
    fn keep_alive(&self) -> Option<(Message, Duration)> {
        None
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most open sockets; `None`: the plan's limit.
    pub max_streams: Option<usize>,
    /// Longest wait for an open socket, and for the first sound of a sentence.
    pub first_byte_timeout: Duration,
    /// Longest wait for the next sound of a sentence.
    pub idle_timeout: Duration,
}

/// The messages of one turn.
pub trait TurnMessages: Send {
    /// Messages that have `sentence` spoken.
    fn say(&mut self, sentence: &Sentence) -> Vec<Message>;

    /// Messages behind the last sentence. Sent before the sentences are spoken, and also after a
    /// turn without [`LineEvent::Free`].
    fn finish(&mut self) -> Vec<Message>;

    /// Messages that end the turn early, perhaps after [`Self::finish`]; `None`: only closing the
    /// socket does.
    fn cancel(&mut self) -> Option<Vec<Message>>;

    /// True if the socket may serve another turn before the service has confirmed the end of this
    /// one: its late sound can be recognised.
    fn is_free(&self) -> bool {
        false
    }

    /// Reads a text or binary message of the service, also after [`Self::cancel`].
    ///
    /// # Errors
    /// The service's own. The socket is closed.
    fn read(&mut self, message: &Message) -> Result<Vec<LineEvent>, Error>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum LineEvent {
    /// Sound of the first sentence that is not done.
    Sound(Pcm),
    /// A word of that sentence; its time counts from the start of the sentence's sound as the
    /// service speaks it.
    Word(WordEnd),
    /// The sentence is spoken.
    Done,
    /// The socket may serve another turn: no sound of this one can come, after
    /// [`TurnMessages::cancel`] too. Sentences that follow are those of another turn.
    Free,
}

/// The answer to a refused request.
#[derive(Clone, Copy)]
pub struct Refusal<'a> {
    pub status: StatusCode,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// Failure of a socket, which the service's client phrases.
#[derive(Clone, Copy)]
pub enum SocketFailure<'a> {
    /// The handshake failed.
    NotOpened(&'a NotOpened),
    /// No connection, or no sound of a sentence, in time.
    Slow,
    /// A sentence's sound has stopped.
    Silent,
    /// All of this number of streams are in use.
    Full(usize),
    /// The service closed the socket.
    Closed(Option<&'a CloseFrame>),
    Broken(&'a tungstenite::Error),
    /// It sends more than this.
    Flooding(Bound),
    /// A sentence ended without audible sound.
    NoSound,
}

//! An answer on its way to the table, and what of it was heard.
//!
//! Entry types: [`Reply`], [`ReplyPort`], [`PlayedPart`]. **Never**: plays anything.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::{
    audio::Frame,
    domain::TurnId,
    provider::{Error, Kind},
};

/// A piece of a reply.
#[derive(Debug)]
pub enum Reply {
    /// Speech of a sentence, one frame of 48 kHz mono.
    Audio {
        /// Number of the sentence in the turn, counted from 0, fillers included.
        sentence: usize,
        /// Its next frame.
        frame: Frame,
    },
    /// A sentence begins: its audio follows.
    Sentence {
        /// Its text as written.
        text: String,
        /// A filler is played, but is no part of the history.
        filler: bool,
    },
    /// A line begins that is said in place of an answer: it is reported, and no part of the history.
    Instead {
        /// Its text as written.
        text: String,
    },
    /// Words of a sentence that came after its beginning, to be appended.
    Words {
        /// Number of the sentence in the turn.
        sentence: usize,
        /// The words, as written.
        text: String,
    },
    /// All audio of the sentence is out.
    SentenceDone {
        /// Number of the sentence in the turn.
        index: usize,
    },
}

/// Port for the pieces of one turn's reply.
#[derive(Clone, Debug)]
pub struct ReplyPort {
    turn: TurnId,
    to: mpsc::Sender<(TurnId, Reply)>,
    /// Sentences of the turn before the first of this port.
    before: usize,
}

/// Room for one piece.
pub struct Room<'p> {
    permit: mpsc::Permit<'p, (TurnId, Reply)>,
    port: &'p ReplyPort,
}

impl ReplyPort {
    /// The port of `turn`; a full queue makes the engine wait.
    pub fn new(turn: TurnId, to: mpsc::Sender<(TurnId, Reply)>) -> Self {
        Self { turn, to, before: 0 }
    }

    /// A port for the sentences after the first `sentences` of this one.
    #[must_use]
    pub fn after(&self, sentences: usize) -> Self {
        Self { before: self.before + sentences, ..self.clone() }
    }

    /// Waits for room. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::Interrupted`] when the table is gone.
    pub async fn room(&self) -> Result<Room<'_>, Error> {
        let permit = self.to.reserve().await.map_err(|_| gone())?;
        Ok(Room { permit, port: self })
    }

    /// `reply` as the table counts sentences.
    fn counted(&self, reply: Reply) -> Reply {
        match reply {
            Reply::Audio { sentence, frame } => {
                Reply::Audio { sentence: sentence + self.before, frame }
            }
            Reply::Words { sentence, text } => {
                Reply::Words { sentence: sentence + self.before, text }
            }
            Reply::SentenceDone { index } => Reply::SentenceDone { index: index + self.before },
            Reply::Sentence { .. } | Reply::Instead { .. } => reply,
        }
    }

    /// Passes one piece on. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::Interrupted`] when the table is gone.
    pub async fn send(&self, reply: Reply) -> Result<(), Error> {
        self.to.send((self.turn, self.counted(reply))).await.map_err(|_| gone())
    }
}

impl Room<'_> {
    /// Passes one piece on.
    pub fn send(self, reply: Reply) {
        self.permit.send((self.port.turn, self.port.counted(reply)));
    }
}

fn gone() -> Error {
    Error::new(Kind::Interrupted, "the table is gone")
}

/// The part of a turn that was played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayedPart {
    /// What was spoken: text up to the last frame that left, without fillers.
    pub text: String,
    /// What was spoken of a line in place of an answer; may be empty.
    pub instead: String,
    /// Length of the sound that left, fillers included.
    pub audio: Duration,
    /// Length of the answer's sound that left, without fillers and the silence at the end of sentences.
    pub answered: Duration,
    /// The place in the answer where it ended; `None`: nothing of it was heard.
    pub position: Option<Position>,
}

/// A place in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number of the sentence in the turn, counted from 0, fillers included.
    pub sentence: usize,
    /// Sound of that sentence already sent, in whole frames.
    pub into: Duration,
}

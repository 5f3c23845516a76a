//! An answer on its way to the table, and its played part.
//!
//! Entry types: [`Reply`], [`ReplyPort`], [`PlayedPart`].

use std::time::Duration;

use tokio::sync::mpsc;

use crate::{
    audio::Frame,
    domain::TurnId,
    provider::{Error, Kind, WordEnd},
};

#[derive(Debug)]
pub enum Reply {
    /// One frame of a sentence: 48 kHz mono.
    Audio {
        /// Index of the sentence in the turn, fillers included.
        sentence: usize,
        frame: Frame,
    },
    Sentence {
        text: String,
        /// Played, but not part of the history.
        filler: bool,
    },
    /// Begins a line in place of an answer: reported, but not part of the history.
    Instead {
        text: String,
    },
    Words {
        sentence: usize,
        /// As written.
        text: String,
    },
    /// The end of a word of a sentence.
    Word {
        sentence: usize,
        word: WordEnd,
    },
    SentenceDone {
        index: usize,
    },
}

#[derive(Clone, Debug)]
pub struct ReplyPort {
    turn: TurnId,
    to: mpsc::Sender<(TurnId, Reply)>,
    /// Number of sentences before this port.
    before: usize,
}

pub struct Room<'p> {
    permit: mpsc::Permit<'p, (TurnId, Reply)>,
    port: &'p ReplyPort,
}

impl ReplyPort {
    pub fn new(turn: TurnId, to: mpsc::Sender<(TurnId, Reply)>) -> Self {
        Self { turn, to, before: 0 }
    }

    /// A port for the sentences after the first `sentences`.
    #[must_use]
    pub fn after(&self, sentences: usize) -> Self {
        Self { before: self.before + sentences, ..self.clone() }
    }

    /// Waits for room. Fails with [`Kind::Interrupted`] once the table is gone. Cancel safe.
    pub async fn room(&self) -> Result<Room<'_>, Error> {
        let permit = self.to.reserve().await.map_err(|_| gone())?;
        Ok(Room { permit, port: self })
    }

    fn counted(&self, reply: Reply) -> Reply {
        match reply {
            Reply::Audio { sentence, frame } => {
                Reply::Audio { sentence: sentence + self.before, frame }
            }
            Reply::Words { sentence, text } => {
                Reply::Words { sentence: sentence + self.before, text }
            }
            Reply::Word { sentence, word } => {
                Reply::Word { sentence: sentence + self.before, word }
            }
            Reply::SentenceDone { index } => Reply::SentenceDone { index: index + self.before },
            Reply::Sentence { .. } | Reply::Instead { .. } => reply,
        }
    }

    /// Passes one piece on. Fails with [`Kind::Interrupted`] once the table is gone. Cancel safe.
    pub async fn send(&self, reply: Reply) -> Result<(), Error> {
        self.to.send((self.turn, self.counted(reply))).await.map_err(|_| gone())
    }
}

impl Room<'_> {
    pub fn send(self, reply: Reply) {
        self.permit.send((self.port.turn, self.port.counted(reply)));
    }
}

fn gone() -> Error {
    Error::new(Kind::Interrupted, "the table is gone")
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayedPart {
    /// Spoken text up to the last frame that left, without fillers.
    pub text: String,
    /// Spoken part of a line in place of an answer.
    pub instead: String,
    /// Length of the sound that left, fillers included.
    pub audio: Duration,
    /// Length of the answer's sound that left, without fillers and trailing silence.
    pub answered: Duration,
    /// End of the played part; `None`: nothing was played.
    pub position: Option<Position>,
}

/// A place in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Index in the turn, fillers included.
    pub sentence: usize,
    /// Sound of that sentence already played, in whole frames.
    pub into: Duration,
}

//! One addressed utterance in, an NPC's speech out.
//!
//! Entry types: [`VoiceEngine`], [`Turn`], [`Reply`].
//! **Never**: knows other speakers' turns, Discord, or the store.

mod assistant;
mod cascaded;
mod fillers;
mod history;
mod lend;
mod limits;
mod once;
mod purse;
mod recent;
mod speak;
mod summary;
mod tool_loop;
mod window;

pub use assistant::{Assistant, Question};
pub use cascaded::{Cascaded, CascadedParts};
pub use history::forget_exchanges;
pub use limits::SessionCalls;
pub use once::ask_once;
pub use purse::{Held, Purse};
pub use speak::Shaping;
pub use summary::{Summarising, Summary};

use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    audio::Frame,
    domain::{Message, SessionId, Tier, TurnFacts, TurnId},
    logic::prompt::Recalled,
    provider::{Error, Kind},
    tools::{CallRecord, Effects, FollowUp, VisibleTools},
};

/// Makes one NPC's speech. One engine belongs to one NPC at one table and keeps its history.
pub trait VoiceEngine: Send {
    /// Sets what the NPC may call in its next turn.
    fn set_tools(&mut self, tools: Arc<VisibleTools>);

    /// Starts answering; the caller runs the future. Speech comes out of `replies` as it is made.
    /// Cancel safe: dropping the future ends the turn, its requests and its calls.
    fn start(&mut self, turn: Turn, replies: ReplyPort) -> BoxFuture<'static, TurnReport>;

    /// Adds a finished or interrupted turn to the history, with the text that was heard aloud.
    fn heard(&mut self, turn: &TurnReport, text: &str);

    /// Adds something said at the table that was not meant for this NPC.
    fn overhear(&mut self, speaker: &str, text: &str);

    /// Takes back what was overheard last in exactly these words: its speaker goes on, and the
    /// whole is told later.
    fn forget(&mut self, speaker: &str, text: &str);

    /// Takes back everything of `speaker`: what was overheard, and their exchanges.
    fn forget_speaker(&mut self, speaker: &str);

    /// Takes back the last exchange, if it begins with `said`.
    fn take_back(&mut self, said: &str);

    /// The conversation so far, to be kept with the session.
    fn history(&self) -> &[Message];

    /// What sums up the oldest half of a conversation that fills the model's window, to be run while
    /// nobody waits for it; `None`: there is room.
    fn summarise(&self) -> Option<Summarising>;

    /// Takes in what came of it, unless the messages are others by now; what the game master should
    /// know.
    fn summarised(&mut self, outcome: Result<Summary, Error>) -> Option<String>;

    /// What the game master should know of the model's window, once.
    fn warning(&mut self) -> Option<String>;

    /// Prepares what can be prepared while nobody waits (filler lines). Cancel safe.
    fn warm(&self) -> BoxFuture<'static, ()>;
}

/// One addressed utterance.
pub struct Turn {
    /// Play session.
    pub session: SessionId,
    /// Which turn of the table this is.
    pub id: TurnId,
    /// What is known beside the words.
    pub facts: Arc<TurnFacts>,
    /// What holds at this moment; none of it goes into the history.
    pub setting: Setting,
    /// The utterance as it was spoken, at 16 kHz: as far as it was spoken when the turn began, and
    /// empty when it was typed.
    pub audio: Arc<[Frame]>,
    /// What the NPC remembers of it, when the look-up is done or has taken too long; `None`: nothing
    /// is looked up.
    pub recall: Option<Recall>,
    /// What the NPC is to speak about.
    pub cause: Cause,
    /// Effective tier.
    pub tier: Tier,
    /// What the table has decided and played so far.
    pub gate: watch::Receiver<Gate>,
    /// Ends the turn.
    pub cancel: CancellationToken,
    /// The table itself.
    pub effects: Arc<dyn Effects>,
}

/// A look-up in what is remembered; it ends within its own limit. Dropping it ends it.
pub type Recall = Shared<BoxFuture<'static, Recalled>>;

/// What an NPC is told about the moment of a turn.
#[derive(Clone, Default)]
pub struct Setting {
    /// Where it is.
    pub scene: Option<String>,
    /// What time of day it is there.
    pub time_of_day: Option<String>,
    /// The game master's secret note for it; no `Debug`, so that no log shows it.
    pub note: Option<Arc<str>>,
}

/// What makes an NPC speak.
#[derive(Clone, Debug)]
pub enum Cause {
    /// What was said to it.
    Utterance,
    /// The game master's words, to be said as they are, without asking a model.
    Puppet(String),
    /// A call of an earlier turn has ended.
    FollowUp(Box<FollowUp>),
}

/// How far the table is with a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// The final transcript agrees; before that only read-only tools run.
    pub confirmed: bool,
    /// Sentences whose playing has begun.
    pub playing: usize,
}

/// A piece of a reply.
#[derive(Debug)]
pub enum Reply {
    /// Speech of a sentence, 20 ms of 48 kHz mono.
    Audio {
        /// Which sentence of the turn.
        sentence: usize,
        /// The sound.
        frame: Frame,
    },
    /// A sentence begins: its audio follows.
    Sentence {
        /// Its text as written.
        text: String,
        /// A filler is played, but is no part of the history.
        filler: bool,
    },
    /// All audio of the sentence is out.
    SentenceDone {
        /// Which sentence of the turn.
        index: usize,
    },
}

/// Where the pieces of one turn's reply go.
#[derive(Clone, Debug)]
pub struct ReplyPort {
    turn: TurnId,
    to: mpsc::Sender<(TurnId, Reply)>,
}

impl ReplyPort {
    /// The port of `turn`; a full queue makes the engine wait.
    pub fn new(turn: TurnId, to: mpsc::Sender<(TurnId, Reply)>) -> Self {
        Self { turn, to }
    }

    /// Passes one piece on. Cancel safe.
    ///
    /// # Errors
    /// [`Kind::Interrupted`] when the table is gone.
    pub async fn send(&self, reply: Reply) -> Result<(), Error> {
        self.to
            .send((self.turn, reply))
            .await
            .map_err(|_| Error::new(Kind::Interrupted, "the table is gone"))
    }
}

/// What a turn came to, whether or not it was heard.
#[derive(Debug)]
pub struct TurnReport {
    /// What the utterance adds to the history.
    pub said: String,
    /// Calls and results, in the order the model needs them.
    pub exchange: Vec<Message>,
    /// What the model could call in its first round.
    pub visible: Vec<String>,
    /// Calls made.
    pub calls: Vec<CallRecord>,
    /// When the model's first text or call arrived.
    pub first_text_at: Option<Instant>,
    /// Why it ended early, if it did.
    pub failure: Option<Failure>,
}

/// Why a turn ended before it was whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The chat model failed; the text is for the game master, never spoken.
    #[error("{0}")]
    Model(String),
    /// The voice failed.
    #[error("{0}")]
    Voice(String),
    /// A spending cap stopped it.
    #[error("{0}")]
    OverBudget(String),
    /// The model answered without a word to say.
    #[error("the model had nothing to say (ask again, or in other words)")]
    EmptyReply,
}

#[cfg(test)]
pub mod tests;

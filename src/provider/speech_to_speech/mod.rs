//! Models that hear and speak: sound in, sound out, calls in between. This is the provider's side
//! of the speech-to-speech line; the engine decides whose turn it is and calls the tools.
//!
//! [`SpeechToSpeech::connect`] opens a session. Orders go in through [`SpeechControl`], events come
//! out of [`SpeechEvents`]. One task ([`session::run`]) owns the [`socket`] and keeps reading, so
//! that pings are answered even if no event is read. Queued events are limited to 30 s of sound
//! ([`SPEECH_WAITING`]) and 8,192 in number, of which 1,024 are reserved for anything but sound and
//! words ([`events`]): what exceeds that is dropped and the answer cut, and a full queue ends the
//! session. Orders that need the end of an answer wait in [`session::Waiting`], in their order; an
//! order that has not left after 10 s ends the session. [`items`] counts the sound received, so
//! that a cut at the heard part never lies beyond it. Calls are returned only from a completed
//! [`answer`]. The engine replaces a session before the service's age limit and closes it after 60
//! s of silence ([`Options`]).
//!
//! Entry type: [`SpeechToSpeech`]. Services differ in [`SpeechAbilities`] alone.

pub mod answer;
pub mod events;
pub mod items;
mod options;
pub mod peer;
pub mod probe;
pub mod session;
pub mod socket;
pub mod sound_input;

use std::{sync::Arc, time::Duration};

use futures::{future::BoxFuture, stream::BoxStream};
use tokio::{sync::mpsc, time::Instant};

pub use self::options::{FIRST_BYTE_TIMEOUT, IDLE, Options, SpeechService};
use super::{Error, Kind, Pcm};
use crate::{
    domain::{CallId, ToolCall, ToolChoice, ToolSpec},
    logic::budget::SoundTokens,
};

pub trait SpeechToSpeech: Send + Sync {
    /// For logs and reports ("openai-realtime").
    fn name(&self) -> &str;

    fn model(&self) -> &str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    fn abilities(&self) -> SpeechAbilities;

    /// Opens a session; it ends when its [`SpeechControl`] is dropped. Cancel safe.
    ///
    /// # Errors
    /// No connection in time, or the service refuses the setup.
    fn connect(&self, setup: SpeechSetup) -> BoxFuture<'static, Result<SpeechSession, Error>>;
}

pub struct SpeechSession {
    pub control: SpeechControl,
    /// Events up to the end or an error.
    pub events: SpeechEvents,
}

pub type SpeechEvents = BoxStream<'static, Result<SpeechSessionEvent, Error>>;

/// Most unread sound; the rest of the answer is dropped.
pub const SPEECH_WAITING: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeechAbilities {
    /// Uncommitted sound can be cleared.
    pub clears: bool,
    /// An answer can be cut at the last millisecond heard.
    pub truncates: bool,
    /// Tools can change within a session.
    pub changes_tools: bool,
    /// An answer continues beside calls that do not block it (see [`Calling`]); a round of only
    /// such calls already has its answer.
    ///
    /// [`Calling`]: crate::domain::Calling
    pub goes_on: bool,
    /// Accepts a forced tool choice.
    pub takes_choice: bool,
    /// Tokens per length of sound.
    pub sound: SoundTokens,
}

#[derive(Clone, Debug)]
pub struct SpeechSetup {
    /// The NPC and its manner of speaking.
    pub instructions: String,
    /// The service's name of the voice; `None`: its default.
    pub voice: Option<String>,
    pub tools: Arc<[ToolSpec]>,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
    pub before: Vec<SpeechItem>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechItem {
    /// Said at the table, or a note about the scene.
    Said(String),
    Answered(String),
}

/// The service's id of an item in its conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpeechItemId(pub String);

#[derive(Clone, Debug)]
pub enum SpeechOrder {
    /// Replaces the callable tools.
    Tools(Arc<[ToolSpec]>),
    /// Sound in order; any rate, 16-bit mono.
    Sound(Pcm),
    /// Ends an utterance. The answer waits for [`Self::Answer`].
    Commit,
    /// Drops the sound since the last commit.
    Clear,
    Text(SpeechItem),
    Answer(ToolChoice),
    /// A call's result as the model reads it. The answer waits for [`Self::Answer`].
    Result {
        call: CallId,
        output: String,
    },
    Cancel,
    /// Cuts an answer off at the heard part.
    Truncate {
        /// The answer.
        item: SpeechItemId,
        /// Length of the heard part of the sound as the service sent it.
        played: Duration,
    },
}

/// An event of a session.
#[derive(Clone, Debug)]
pub enum SpeechSessionEvent {
    Audio {
        item: SpeechItemId,
        /// 16-bit mono.
        sound: Pcm,
    },
    /// Words of an answer, before or after their sound.
    Words {
        item: SpeechItemId,
        /// To be appended.
        delta: String,
    },
    /// The model is writing a call.
    Calling,
    /// A call of a completed answer; comes before [`Self::Done`].
    Call(ToolCall),
    /// The service withdraws these calls; their results are dropped.
    CallsCancelled(Vec<CallId>),
    Done(SpeechDone),
    /// An order was refused; the session continues.
    Refused(Error),
    /// The session ends at this time; open another one before.
    GoingAway(Instant),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SpeechDone {
    pub ending: SpeechEnding,
    /// `None`: the service does not count.
    pub usage: Option<SpeechUsage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechEnding {
    Completed,
    /// Cancelled on our order.
    Cancelled,
    /// Reached the limit of tokens.
    TooLong,
    /// Withheld for its content.
    Withheld,
    Failed(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpeechUsage {
    /// Including cached ones.
    pub text_in: u64,
    /// Part of `text_in`.
    pub text_cached: u64,
    /// Including cached ones.
    pub audio_in: u64,
    /// Part of `audio_in`.
    pub audio_cached: u64,
    pub text_out: u64,
    pub audio_out: u64,
}

/// Sends orders to a session; dropping it ends the session.
#[derive(Debug)]
pub struct SpeechControl(mpsc::UnboundedSender<SpeechOrder>);

impl SpeechControl {
    /// The receiver is for the service's client.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<SpeechOrder>) {
        let (orders, taken) = mpsc::unbounded_channel();
        (Self(orders), taken)
    }

    /// Sends an order; [`Kind::Interrupted`] if the session is over.
    pub fn send(&self, order: SpeechOrder) -> Result<(), Error> {
        let gone = |_| Error::new(Kind::Interrupted, "the session of the voice model is over");
        self.0.send(order).map_err(gone)
    }
}

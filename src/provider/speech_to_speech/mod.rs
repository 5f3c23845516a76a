//! The contract of a model that hears and speaks: sound in, sound out, calls in between.
//!
//! Entry type: [`SpeechToSpeech`]. Nothing above it knows which service it is: services differ in
//! their [`SpeechAbilities`]. Beside it, what the clients of all services share: [`session`] on a
//! [`socket`], and its parts. **Never**: decides whose turn it is, or calls a tool.

pub mod answer;
pub mod events;
pub mod items;
mod options;
pub mod peer;
pub mod probe;
pub mod session;
pub mod socket;
pub mod sound_input;
pub mod waiting;

use std::{sync::Arc, time::Duration};

use futures::{future::BoxFuture, stream::BoxStream};
use tokio::{sync::mpsc, time::Instant};

pub use self::options::{FIRST_BYTE_TIMEOUT, IDLE, Options, SpeechService};
use super::{Error, Kind, Pcm};
use crate::{
    domain::{CallId, ToolCall, ToolChoice, ToolSpec},
    logic::budget::SoundTokens,
};

/// A model that hears and speaks.
pub trait SpeechToSpeech: Send + Sync {
    /// Short name for logs and reports ("openai-realtime").
    fn name(&self) -> &str;

    /// Name of its model ("gpt-realtime-2.1").
    fn model(&self) -> &str;

    /// The model's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// Its abilities.
    fn abilities(&self) -> SpeechAbilities;

    /// Opens a session with `setup`; it ends when its [`SpeechControl`] is dropped.
    /// Cancel safe: dropping the future gives the connection up.
    ///
    /// # Errors
    /// No connection in time, or the service has refused the setup.
    fn connect(&self, setup: SpeechSetup) -> BoxFuture<'static, Result<SpeechSession, Error>>;
}

/// An open session.
pub struct SpeechSession {
    /// Takes orders.
    pub control: SpeechControl,
    /// Events of the service, up to its end or an error. The client reads on even if nobody polls this,
    /// so that pings are answered; the sound that waits is bounded by [`SPEECH_WAITING`].
    pub events: SpeechEvents,
}

/// Events of a session.
pub type SpeechEvents = BoxStream<'static, Result<SpeechSessionEvent, Error>>;

/// Most speech that waits to be read; the rest of such an answer is dropped.
pub const SPEECH_WAITING: Duration = Duration::from_secs(30);

/// Abilities beyond hearing, speaking and calling tools, and how sound is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeechAbilities {
    /// Sound that is not committed can be taken back.
    pub clears: bool,
    /// An answer can be cut off at the millisecond that was heard last.
    pub truncates: bool,
    /// Other tools can be declared within a session.
    pub changes_tools: bool,
    /// An answer goes on beside calls it need not wait for, as each tool's [`Calling`] says. A round
    /// of nothing but such calls has its answer already.
    ///
    /// [`Calling`]: crate::domain::Calling
    pub goes_on: bool,
    /// It can be made to call a tool, or a certain one.
    pub takes_choice: bool,
    /// Tokens of its sound.
    pub sound: SoundTokens,
}

/// The beginning of a session.
#[derive(Clone, Debug)]
pub struct SpeechSetup {
    /// The NPC, and its manner of speaking.
    pub instructions: String,
    /// The service's own name of the voice; `None`: its own choice.
    pub voice: Option<String>,
    /// The tools that may be called.
    pub tools: Arc<[ToolSpec]>,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
    /// The conversation so far, oldest first.
    pub before: Vec<SpeechItem>,
}

/// Something of a conversation, in writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechItem {
    /// Said by somebody at the table, or told of the moment.
    Said(String),
    /// Answered by the NPC.
    Answered(String),
}

/// An item of the service's own conversation, by its name for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpeechItemId(pub String);

/// An order to a session.
#[derive(Clone, Debug)]
pub enum SpeechOrder {
    /// From now on these tools may be called, and no others.
    Tools(Arc<[ToolSpec]>),
    /// Sound that is said, in order; any rate, 16-bit mono.
    Sound(Pcm),
    /// Ends an utterance. The answer waits for [`Self::Answer`].
    Commit,
    /// Drops the sound since the last commit.
    Clear,
    /// Something in writing.
    Text(SpeechItem),
    /// Answer.
    Answer(ToolChoice),
    /// The result of a call, as the model reads it. The answer waits for [`Self::Answer`].
    Result {
        /// The call.
        call: CallId,
        /// Its result.
        output: String,
    },
    /// Stop answering.
    Cancel,
    /// Cuts the answer `item` off at the played part.
    Truncate {
        /// Id of the answer.
        item: SpeechItemId,
        /// Length of the played part, measured in the sound as the service sent it.
        played: Duration,
    },
}

/// An event of a session.
#[derive(Clone, Debug)]
pub enum SpeechSessionEvent {
    /// Sound of an answer.
    Audio {
        /// Id of the answer.
        item: SpeechItemId,
        /// 16-bit mono.
        sound: Pcm,
    },
    /// Words of an answer; they may come before their sound, or after it.
    Words {
        /// Id of the answer.
        item: SpeechItemId,
        /// To be appended.
        delta: String,
    },
    /// A call is being written: the service is at work.
    Calling,
    /// A call of an answer that was completed; it comes before [`Self::Done`].
    Call(ToolCall),
    /// The service wants the results of these calls no more: results that are sent are dropped.
    CallsCancelled(Vec<CallId>),
    /// An answer has ended.
    Done(SpeechDone),
    /// An order was refused; the session goes on.
    Refused(Error),
    /// The session ends then: another is to be opened before.
    GoingAway(Instant),
}

/// End of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeechDone {
    /// Its ending.
    pub ending: SpeechEnding,
    /// The billed tokens, where the service counts them.
    pub usage: Option<SpeechUsage>,
}

/// Ending of a service's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechEnding {
    /// It is whole.
    Completed,
    /// It was stopped, as it was told.
    Cancelled,
    /// It is as long as it may be.
    TooLong,
    /// The service withholds the rest for what it says.
    Withheld,
    /// The service has failed, as it says.
    Failed(String),
}

/// Tokens billed for one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpeechUsage {
    /// Tokens of text read, cached ones included.
    pub text_in: u64,
    /// Of those, read from the service's cache.
    pub text_cached: u64,
    /// Tokens of sound heard, cached ones included.
    pub audio_in: u64,
    /// Of those, read from the service's cache.
    pub audio_cached: u64,
    /// Tokens of text written.
    pub text_out: u64,
    /// Tokens of sound spoken.
    pub audio_out: u64,
}

/// Orders to a session. Dropping it ends the session.
#[derive(Debug)]
pub struct SpeechControl(mpsc::UnboundedSender<SpeechOrder>);

impl SpeechControl {
    /// The two ends; the service's client has the second.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<SpeechOrder>) {
        let (orders, taken) = mpsc::unbounded_channel();
        (Self(orders), taken)
    }

    /// Tells the session something, in order.
    ///
    /// # Errors
    /// [`Kind::Interrupted`]: it is over.
    pub fn send(&self, order: SpeechOrder) -> Result<(), Error> {
        let gone = |_| Error::new(Kind::Interrupted, "the session of the voice model is over");
        self.0.send(order).map_err(gone)
    }
}

//! Small traits for outside speech and language services, and the clients that fill them.
//!
//! Entry types: [`SpeechToText`], [`ChatModel`], [`TextToSpeech`], [`Embedder`], [`Error`].
//! **Never**: knowing NPCs' rules, tables or Discord.

mod carrier;
mod child;
mod error;
pub mod espeak;
pub mod flite;
pub mod local;
#[cfg(feature = "minilm")]
pub mod minilm;
pub mod openai;
pub mod scripted;

pub use carrier::towards;
pub use error::{Error, Kind};

use std::sync::Arc;

use futures::{future::BoxFuture, stream::BoxStream};
use tokio::sync::mpsc;

use crate::{
    audio::{Frame, SampleRate},
    domain::{Message, Pronunciation, ToolCall, ToolChoice, ToolSpec, TurnFacts, Voice},
};

/// Hears one speaker.
pub trait SpeechToText: Send + Sync {
    /// Short name for logs and reports ("local", "openai").
    fn name(&self) -> &str;

    /// The recogniser's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// What can be expected of it.
    fn abilities(&self) -> SttAbilities;

    /// Resolves when it can hear at once; models are loaded by then.
    ///
    /// # Errors
    /// What is missing and how to install or configure it.
    fn ready(&self) -> BoxFuture<'static, Result<(), Error>>;

    /// From now on `names` are likely to be said, the likeliest first; a recogniser that cannot be
    /// told does not ask for them.
    fn expect(&self, names: &dyn Fn() -> Vec<String>);

    /// Hears one utterance: 16 kHz mono frames come in on `audio`, whose closing ends the
    /// utterance; in a pause they may stay away, and come later or never. The stream ends after the
    /// final or after an error. Dropping it gives the recogniser back.
    ///
    /// The table polls the stream in its own task: whatever takes time (decoding, encoding, a
    /// connection) runs in a task or thread of the recogniser, which the stream ends when dropped.
    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>>;
}

/// What a recogniser does beside final transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SttAbilities {
    /// It gives partials while the person speaks.
    pub partials: bool,
    /// It decides itself when an utterance ends: the stream of `listen` goes on after a final.
    pub endpointing: bool,
}

/// What a recogniser has to say of an utterance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeechEvent {
    /// The utterance so far.
    Partial {
        /// Replaces the text of the partial before it.
        text: String,
    },
    /// The utterance is over.
    Final {
        /// All of it; empty when nothing was understood.
        text: String,
    },
}

/// Writes replies and asks for tools.
pub trait ChatModel: Send + Sync {
    /// Short name for logs and reports ("scripted", "openai").
    fn name(&self) -> &str;

    /// The model's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// Whether it does what any prompt says; a brain of rules does not.
    fn reads_prompts(&self) -> bool {
        true
    }

    /// Tokens of a request and its answer together, at most; `None`: nothing is counted, as with a
    /// brain of rules.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Streams one reply. Dropping the stream cancels the request.
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>>;
}

/// One request to a chat model.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// Stable prefix first, this turn's facts last.
    pub messages: Vec<Message>,
    /// The tools it may call now.
    pub tools: Arc<[ToolSpec]>,
    /// What it is told about calling them.
    pub tool_choice: ToolChoice,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
    /// The turn's facts as values, for brains that do not read prose.
    pub facts: Arc<TurnFacts>,
}

/// A piece of a streamed reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// Text to append.
    Text(String),
    /// One whole call.
    ToolCall(ToolCall),
    /// Tokens billed for this request; the last one counts.
    Usage(Usage),
    /// The reply is whole; nothing follows.
    Done,
}

/// Tokens billed for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Of those, read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// Speaks sentences.
pub trait TextToSpeech: Send + Sync {
    /// Short name for logs and reports ("flite").
    fn name(&self) -> &str;

    /// The voice model's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// Synthesises one sentence as 16-bit mono chunks. Dropping the stream cancels it.
    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>>;
}

/// One sentence to speak.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeakRequest {
    /// Speakable text of one sentence.
    pub text: String,
    /// In whose voice; pitch and speed are honoured, volume is applied by the caller.
    pub voice: Voice,
    /// ISO 639-1 code of the text.
    pub language: String,
    /// Words that are said otherwise than written.
    pub pronunciation: Arc<[Pronunciation]>,
}

/// A chunk of 16-bit mono PCM.
#[derive(Clone, Debug, PartialEq)]
pub struct Pcm {
    /// Samples in order.
    pub samples: Vec<i16>,
    /// Their rate; constant within one stream.
    pub rate: SampleRate,
}

/// Turns texts into vectors whose angles say how near their meanings are.
pub trait Embedder: Send + Sync {
    /// Short name for logs and reports ("openai").
    fn name(&self) -> &str;

    /// Length of its vectors; `None` until the first was made.
    fn dimension(&self) -> Option<usize>;

    /// One vector a text, in their order, all of the same length, not necessarily of length one.
    /// Cancel safe.
    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>>;
}

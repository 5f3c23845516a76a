//! The contract of a voice service, and what one says of itself before it is opened.
//!
//! Entry types: [`TextToSpeech`], [`VoiceTraits`]. **Never**: plays anything.

use std::sync::Arc;

use futures::{
    FutureExt,
    future::{self, BoxFuture},
    stream::BoxStream,
};

use super::{Attempts, Error};
use crate::{
    audio::SampleRate,
    domain::{Pronunciation, Voice},
};

/// Synthesises speech, a sentence at a time.
pub trait TextToSpeech: Send + Sync {
    /// Short name for logs and reports ("flite").
    fn name(&self) -> &str;

    /// The voice model's name in the price list; `None`: it costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// Synthesises one sentence as 16-bit mono chunks. Dropping the stream cancels it.
    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>>;

    /// The voice that is heard where `voice` is asked for.
    fn speaks_as(&self, voice: &Voice) -> Voice {
        voice.clone()
    }

    /// Reason `voice` cannot be spoken, as far as a look at what is there tells.
    fn lacks(&self, _voice: &Voice) -> Option<Error> {
        None
    }

    /// Makes the first sentence of `voice` as quick as the others. Cancel safe.
    fn warm(&self, _voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        future::ready(Ok(())).boxed()
    }
}

/// One sentence to speak.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeakRequest {
    /// Speakable text of one sentence.
    pub text: String,
    /// In whose voice; pitch and speed are honoured, volume is applied by the caller.
    pub voice: Voice,
    /// ISO 639-1 code of the text's language where it is another than the NPC's own; a service that
    /// reads by rules takes those of it.
    pub foreign: Option<&'static str>,
    /// Words that are said otherwise than written.
    pub pronunciation: Arc<[Pronunciation]>,
    /// Payer of further attempts.
    pub attempts: Attempts,
}

/// A chunk of 16-bit mono PCM.
#[derive(Clone, Debug, PartialEq)]
pub struct Pcm {
    /// Samples in order.
    pub samples: Vec<i16>,
    /// Their rate; it changes within a stream only where another voice takes over.
    pub rate: SampleRate,
}

/// Properties of a voice service that are known before it is opened.
#[derive(Clone, Copy, Debug)]
pub struct VoiceTraits {
    /// Its name in files and reports.
    pub name: &'static str,
    /// The voices it takes.
    pub ids: VoiceIds,
    /// The voice of NPCs that name none.
    pub default_id: DefaultId,
    /// True if it reads everything as English.
    pub english_only: bool,
    /// True if it moves formants without the pitch.
    pub shifts_formants: bool,
}

/// The names a service's voices may have.
#[derive(Clone, Copy, Debug)]
pub enum VoiceIds {
    /// These and no others.
    Listed(&'static [&'static str]),
    /// Names of a certain shape; which of them are installed is known when one is asked for.
    Shaped {
        /// True if a name has that shape.
        fits: fn(&str) -> bool,
        /// The shape in words, with examples.
        hint: &'static str,
    },
    /// Only the service knows.
    Unknown,
}

/// The voice of an NPC that names none.
#[derive(Clone, Copy, Debug)]
pub enum DefaultId {
    /// Always this one.
    Fixed(&'static str),
    /// The one that is named like the NPC's language.
    Language,
    /// No default: each NPC names its own.
    Required,
}

//! The contract of a voice service, and its properties known before it is opened.
//!
//! Entry types: [`TextToSpeech`], which opens one [`Synthesis`] a turn; [`VoiceTraits`]. **Never**:
//! plays anything.

use std::{sync::Arc, time::Duration};

use futures::{
    FutureExt, StreamExt,
    future::{self, BoxFuture},
    stream::{self, BoxStream},
};

use super::{Attempts, Error};
use crate::{
    audio::SampleRate,
    domain::{Pronunciation, Voice},
};

pub trait TextToSpeech: Send + Sync {
    /// Short name for logs and reports ("flite").
    fn name(&self) -> &str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    /// Begins the speech of one turn. Requests nothing before its first sentence.
    fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis>;

    /// Synthesises one sentence by itself. Dropping the stream cancels it.
    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let SpeakRequest { text, voice, foreign, pronunciation, style, attempts } = request;
        let language = foreign.unwrap_or_default().to_owned();
        let mut synthesis = self.open(SynthesisSetup { voice, language, pronunciation, style });
        synthesis.say(Sentence { text, foreign, attempts });
        synthesis.finish();
        stream::unfold(Some(synthesis), |synthesis| async {
            let mut synthesis = synthesis?;
            loop {
                match synthesis.next().await? {
                    Ok(Spoken::Sound(pcm)) => return Some((Ok(pcm), Some(synthesis))),
                    Ok(Spoken::Word(_)) => {}
                    Ok(Spoken::Done) => return None,
                    Err(error) => return Some((Err(error), None)),
                }
            }
        })
        .boxed()
    }

    /// Reason `voice` cannot be spoken, as far as known without synthesis.
    fn lacks(&self, _voice: &Voice) -> Option<Error> {
        None
    }

    /// Prepares `voice`, so that its first sentence is as quick as later ones. Cancel safe.
    fn warm(&self, _voice: &Voice) -> BoxFuture<'static, Result<(), Error>> {
        future::ready(Ok(())).boxed()
    }
}

/// Speech of one turn: its sentences in order, given as they become whole, so that a service can
/// keep their prosody. Dropping it cancels what is not yet spoken.
pub trait Synthesis: Send {
    /// Adds a sentence behind those before it. Nothing is sent before [`Self::next`] is awaited.
    fn say(&mut self, sentence: Sentence);

    /// No sentence follows.
    fn finish(&mut self);

    /// The next sound of the first sentence that is not yet spoken, or its end; `None` after the
    /// last one, and after an error. Waits while there is no sentence. Cancel safe.
    ///
    /// # Errors
    /// The service's own. The sentence is not spoken to its end.
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Spoken, Error>>>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct SynthesisSetup {
    /// The caller applies the volume.
    pub voice: Voice,
    /// ISO 639-1 code of the NPC's language; empty: not known.
    pub language: String,
    pub pronunciation: Arc<[Pronunciation]>,
    /// The game master's note on the NPC's turn, for services that take a style in words; others
    /// ignore it. It is secret: never spoken, and never in a log.
    pub style: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    pub text: String,
    /// ISO 639-1 code of the text's language if it is not the NPC's own.
    pub foreign: Option<&'static str>,
    pub attempts: Attempts,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Spoken {
    Sound(Pcm),
    /// The end of a word in the sentence's sound. Words come in order, before or after their sound.
    Word(WordEnd),
    /// The sentence is spoken.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordEnd {
    /// From the start of the sentence's sound.
    pub at: Duration,
    /// Part of the sentence's words spoken by then, 0 to 1.
    pub part: f32,
}

/// One sentence by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeakRequest {
    pub text: String,
    /// The caller applies the volume.
    pub voice: Voice,
    /// ISO 639-1 code of the text's language if it is not the NPC's own.
    pub foreign: Option<&'static str>,
    pub pronunciation: Arc<[Pronunciation]>,
    /// See [`SynthesisSetup::style`].
    pub style: Option<Arc<str>>,
    pub attempts: Attempts,
}

/// A chunk of 16-bit mono PCM.
#[derive(Clone, Debug, PartialEq)]
pub struct Pcm {
    pub samples: Vec<i16>,
    pub rate: SampleRate,
}

/// A voice's speed for JSON, where 1.1 stays 1.1; `None`: the normal speed.
pub fn written_speed(speed: f32) -> Option<f64> {
    let is_normal = (speed - 1.0).abs() <= f32::EPSILON;
    if is_normal { None } else { speed.to_string().parse().ok() }
}

#[derive(Clone, Copy, Debug)]
pub struct VoiceTraits {
    pub name: &'static str,
    pub ids: VoiceIds,
    pub default_id: DefaultId,
    pub english_only: bool,
    /// True if it shifts formants independently of pitch.
    pub shifts_formants: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum VoiceIds {
    Listed(&'static [&'static str]),
    /// Names of a certain shape; installed ones are known only on request.
    Shaped {
        fits: fn(&str) -> bool,
        /// The shape in words, with examples.
        hint: &'static str,
    },
    /// Only the service knows them.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub enum DefaultId {
    Fixed(&'static str),
    Language,
    Required,
}

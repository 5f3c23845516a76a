//! The contract of a voice service, and its properties known before it is opened.
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

pub trait TextToSpeech: Send + Sync {
    /// Short name for logs and reports ("flite").
    fn name(&self) -> &str;

    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    /// Synthesises one sentence as 16-bit mono chunks. Dropping the stream cancels it.
    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>>;

    /// The voice actually used for `voice`.
    fn speaks_as(&self, voice: &Voice) -> Voice {
        voice.clone()
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

#[derive(Clone, Debug, PartialEq)]
pub struct SpeakRequest {
    pub text: String,
    /// The caller applies the volume.
    pub voice: Voice,
    /// ISO 639-1 code of the text's language if it is not the NPC's own.
    pub foreign: Option<&'static str>,
    pub pronunciation: Arc<[Pronunciation]>,
    pub attempts: Attempts,
}

/// A chunk of 16-bit mono PCM.
#[derive(Clone, Debug, PartialEq)]
pub struct Pcm {
    pub samples: Vec<i16>,
    /// Changes within a stream only where another voice takes over.
    pub rate: SampleRate,
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

//! Every outside service of the program, opened once and shared by all tables.
//!
//! Entry type: [`Registry`]. What it is asked for is named by the [`Options`] of a configuration:
//! equal settings are answered by the same client, so that tables share connections and what was
//! learnt of a server, and changed settings by a new one.
//! **Never**: a service beside it that talks to the outside.

use std::sync::Arc;

use super::{
    ChatModel, Embedder, Error, SpeechToText, TextToSpeech,
    embedders::Embedders,
    local::Vocabulary,
    models::Models,
    options::Options,
    recognisers::Recognisers,
    voices::{Voices, WithSecond},
};
use crate::domain::{Npc, Voice};

/// The services that are open. Cloning shares them.
#[derive(Clone, Default)]
pub struct Registry(Arc<Opened>);

/// The open services of each kind.
#[derive(Default)]
struct Opened {
    recognisers: Recognisers,
    models: Models,
    voices: Voices,
    embedders: Embedders,
}

impl Registry {
    /// The recogniser for one table; `vocabulary` is asked for where names have to be learnt before
    /// anything is heard. Nothing is loaded yet.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn recogniser(
        &self,
        options: &Options,
        vocabulary: impl FnOnce() -> Vocabulary,
    ) -> Result<Arc<dyn SpeechToText>, Error> {
        self.0.recognisers.open(&options.recogniser, vocabulary)
    }

    /// The brain of `npc`; `seed` is its variety where it is none of a model.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn model(
        &self,
        options: &Options,
        npc: &Npc,
        seed: u64,
    ) -> Result<Arc<dyn ChatModel>, Error> {
        self.0.models.open(&options.model, npc, seed)
    }

    /// The service that speaks `voice`, or its second one while it cannot.
    ///
    /// # Errors
    /// A service that is not configured, or whose address or key makes no request.
    pub fn voice(&self, options: &Options, voice: &Voice) -> Result<Arc<dyn TextToSpeech>, Error> {
        let first = self.0.voices.open(options.voice(voice)?)?;
        let Some(second) = voice.fallback.as_deref() else { return Ok(first) };
        let speaks = self.0.voices.open(options.voice(second)?)?;
        Ok(Arc::new(WithSecond::new((first, voice.clone()), (speaks, second.clone()))))
    }

    /// What compares meanings, if anything does.
    ///
    /// # Errors
    /// A model that cannot be used.
    pub fn embedder(&self, options: &Options) -> Result<Option<Arc<dyn Embedder>>, Error> {
        options.embedder.as_ref().map(|entry| self.0.embedders.open(entry)).transpose()
    }

    /// Whether the recogniser can be used; one line for a report.
    ///
    /// # Errors
    /// Why it cannot, and the way out.
    pub async fn probe_recogniser(
        &self,
        options: &Options,
        vocabulary: impl FnOnce() -> Vocabulary,
    ) -> Result<String, Error> {
        self.0.recognisers.probe(&options.recogniser, vocabulary).await
    }

    /// Lets go of services that `options` do not name any more; who uses one still, keeps it.
    pub fn retain(&self, options: &Options) {
        self.0.recognisers.retain(&options.recogniser);
        self.0.models.retain(&options.model);
        self.0.voices.retain(&options.voices);
        self.0.embedders.retain(options.embedder.as_ref());
    }
}

//! A voice at its service, and several of them in order of preference.
//!
//! Entry types: [`OpenVoice`], [`Chain`] of them. **Never**: pays, or decides when another one speaks.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::{
    domain::Voice,
    provider::{Chain, Error, Synthesis, SynthesisSetup, TextToSpeech},
};

pub struct OpenVoice {
    service: Arc<dyn TextToSpeech>,
    voice: Voice,
}

impl OpenVoice {
    pub const fn new(service: Arc<dyn TextToSpeech>, voice: Voice) -> Self {
        Self { service, voice }
    }

    pub const fn voice(&self) -> &Voice {
        &self.voice
    }

    /// Name in the price list; `None`: free.
    pub fn priced_as(&self) -> Option<&str> {
        self.service.priced_as()
    }

    /// See [`TextToSpeech::open`]; the voice of `setup` is replaced by this one.
    pub fn open(&self, setup: SynthesisSetup) -> Box<dyn Synthesis> {
        self.service.open(SynthesisSetup { voice: self.voice.clone(), ..setup })
    }

    /// See [`TextToSpeech::lacks`].
    pub fn lacks(&self) -> Option<Error> {
        self.service.lacks(&self.voice)
    }

    /// See [`TextToSpeech::warm`]. Cancel safe.
    pub fn warm(&self) -> BoxFuture<'static, Result<(), Error>> {
        self.service.warm(&self.voice)
    }
}

impl Chain<OpenVoice> {
    /// One service with its own health.
    pub fn alone(service: Arc<dyn TextToSpeech>, voice: &Voice) -> Self {
        let name = service.name().to_owned();
        Self::of(&name, Arc::new(OpenVoice::new(service, voice.clone())))
    }

    /// Those whose voice is not known to be missing; all if none is left.
    #[must_use]
    pub fn able(&self) -> Self {
        self.only(|voice| voice.lacks().is_none()).unwrap_or_else(|| self.clone())
    }

    pub fn costs(&self) -> bool {
        self.iter().any(|it| it.service().priced_as().is_some())
    }

    /// Prepares the first voice that is not known to be missing. Cancel safe.
    pub async fn warm(&self) -> Result<(), Error> {
        let mut missing = Ok(());
        for candidate in self.iter() {
            let voice = candidate.service();
            missing = match voice.lacks() {
                Some(error) => Err(error),
                None => match voice.warm().await {
                    // Found missing only now.
                    Err(error) if voice.lacks().is_some() => Err(error),
                    warmed => return warmed,
                },
            };
        }
        missing
    }
}

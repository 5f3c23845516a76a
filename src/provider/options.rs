//! The services of one configuration.
//!
//! Entry type: [`Options`]; `config` builds it. **Never**: opens anything.

use std::path::PathBuf;

use super::{
    Error, Kind,
    embedders::EmbedderEntry,
    models::ModelEntry,
    recognisers::RecogniserEntry,
    service::Services,
    voices::{PiperOptions, VoiceEntry, VoiceService},
};
use crate::{domain::Voice, weights::Weights};

/// Which services are used, and how they are reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Turns speech into text.
    pub recogniser: RecogniserEntry,
    /// Answers for the NPCs.
    pub model: ModelEntry,
    /// Voice services NPCs may name, each once; the first speaks for those that name none.
    pub voices: Vec<VoiceEntry>,
    /// Compares meanings; `None`: words in common decide.
    pub embedder: Option<EmbedderEntry>,
}

impl Options {
    /// The same with model files where `weights` are.
    #[must_use]
    pub fn with_weights(mut self, weights: &Weights) -> Self {
        if let RecogniserEntry::Local(here) = &mut self.recogniser {
            here.weights = weights.clone();
        }
        for voice in &mut self.voices {
            if let VoiceEntry::Piper(piper) = voice {
                piper.models = weights.folders();
            }
        }
        self
    }

    /// The entries of `voices` that NPCs may name: `first`, and those that need no settings but the
    /// folders of `models`.
    pub fn voices(first: VoiceEntry, models: &[PathBuf]) -> Vec<VoiceEntry> {
        let piper = || VoiceEntry::Piper(PiperOptions { models: models.to_owned() });
        let others = VoiceService::ALL.into_iter().filter(|service| *service != first.service());
        let others: Vec<_> = others
            .filter_map(|service| match service {
                VoiceService::Piper => Some(piper()),
                other => other.without_settings(),
            })
            .collect();
        let first = if matches!(first, VoiceEntry::Piper(_)) { piper() } else { first };
        [first].into_iter().chain(others).collect()
    }

    /// The entry that speaks `voice`.
    ///
    /// # Errors
    /// Its service is not configured.
    pub fn voice(&self, voice: &Voice) -> Result<&VoiceEntry, Error> {
        let named = |entry: &&VoiceEntry| entry.name() == voice.provider;
        self.voices.iter().find(named).ok_or_else(|| {
            let text = format!(
                "the voice service \"{}\" is not configured (set providers.tts, or the voice's \
                 provider)",
                voice.provider
            );
            Error::new(Kind::Missing, text)
        })
    }

    /// What the services are, with those that speak `voices`.
    pub fn describe<'a>(&self, voices: impl Iterator<Item = &'a Voice>) -> Services {
        let mut speaks = Vec::new();
        // A voice whose service is not configured does not speak, so nothing goes there.
        let all = voices.flat_map(|voice| [Some(voice), voice.fallback.as_deref()]).flatten();
        for entry in all.filter_map(|voice| self.voice(voice).ok()) {
            let service = entry.info();
            if !speaks.contains(&service) {
                speaks.push(service);
            }
        }
        Services {
            hears: self.recogniser.info(),
            thinks: self.model.info(),
            sums_up: self.model.reads_prompts(),
            speaks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{HereOptions, ServiceInfo};

    #[test]
    fn second_voices_are_named_to_those_who_are_heard() {
        let weights = Weights::new("models".into(), None, Vec::new());
        let options = Options {
            recogniser: RecogniserEntry::Local(HereOptions { weights, language: "en".to_owned() }),
            model: ModelEntry::default(),
            voices: Options::voices(VoiceEntry::Flite, &["models".into()]),
            embedder: None,
        };
        let fallback = Some(Box::new(Voice::as_is("flite", "slt")));
        let voice = Voice { fallback, ..Voice::as_is("piper", "joe") };
        let speaks = options.describe(std::iter::once(&voice)).speaks;
        assert_eq!(speaks, [ServiceInfo::here("Piper"), ServiceInfo::here("flite")]);
        let folder = PiperOptions { models: vec!["models".into()] };
        assert_eq!(options.voice(&voice).unwrap(), &VoiceEntry::Piper(folder));
    }
}

//! The services of one configuration.
//!
//! Entry type: [`Options`]; `config` builds it. **Never**: opens anything.

use std::path::PathBuf;

use super::{
    EntryList, Error, Kind,
    embedders::EmbedderEntry,
    models::ModelEntry,
    recognisers::RecogniserEntry,
    services::Services,
    voices::{KokoroOptions, PiperOptions, VoiceEntry, VoiceService},
};
use crate::{domain::Voice, weights::Weights};

/// Which services are used, and how they are reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Turns speech into text.
    pub recogniser: RecogniserEntry,
    /// Answer for the NPCs, in order of preference.
    pub models: EntryList<ModelEntry>,
    /// Voice services NPCs may name, each once; the first speaks for those that name none.
    pub voices: Vec<VoiceEntry>,
    /// Compares meanings; `None`: words in common decide.
    pub embedder: Option<EmbedderEntry>,
    /// The file of the sound model that tells whether somebody has finished.
    pub turn_model: PathBuf,
}

impl Options {
    /// The same with model files where `weights` are.
    #[must_use]
    pub fn with_weights(mut self, weights: &Weights) -> Self {
        if let RecogniserEntry::Local(here) = &mut self.recogniser {
            here.weights = weights.clone();
        }
        for voice in &mut self.voices {
            match voice {
                VoiceEntry::Piper(piper) => piper.models = weights.folders(),
                VoiceEntry::Kokoro(kokoro) => kokoro.models = weights.folders(),
                _ => {}
            }
        }
        self
    }

    /// The entries of `voices` that NPCs may name: `first`, and those that need no settings but the
    /// folders of `models` and how `slow` a network may be, in seconds for one of speech.
    pub fn voices(first: VoiceEntry, models: &[PathBuf], slow: f32) -> Vec<VoiceEntry> {
        let entry = |service| {
            let models = models.to_owned();
            match service {
                VoiceService::Piper => Some(VoiceEntry::Piper(PiperOptions { models })),
                VoiceService::Kokoro => {
                    Some(VoiceEntry::Kokoro(KokoroOptions { models, slowest: slow }))
                }
                other => other.without_settings(),
            }
        };
        let others = VoiceService::ALL.into_iter().filter(|service| *service != first.service());
        let others: Vec<_> = others.filter_map(entry).collect();
        let first = entry(first.service()).unwrap_or(first);
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
        let mut thinks = Vec::new();
        for service in self.models.iter().map(ModelEntry::info) {
            if !thinks.contains(&service) {
                thinks.push(service);
            }
        }
        let sums_up = self.models.reads_prompts();
        let here = match &self.recogniser {
            RecogniserEntry::Local(here) => Some(here.clone()),
            _ => None,
        };
        Services { hears: self.recogniser.info(), here, thinks, sums_up, speaks }
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
            models: EntryList::default(),
            voices: Options::voices(VoiceEntry::Flite, &["models".into()], 0.8),
            embedder: None,
            turn_model: "smart-turn".into(),
        };
        let fallback = Some(Box::new(Voice::as_is("flite", "slt")));
        let voice = Voice { fallback, ..Voice::as_is("piper", "joe") };
        let speaks = options.describe(std::iter::once(&voice)).speaks;
        assert_eq!(speaks, [ServiceInfo::here("Piper"), ServiceInfo::here("flite")]);
        let folder = PiperOptions { models: vec!["models".into()] };
        assert_eq!(options.voice(&voice).unwrap(), &VoiceEntry::Piper(folder));
        assert_eq!(
            options.describe(std::iter::empty()).thinks,
            [ServiceInfo::here("written lines")]
        );
        let kokoro = KokoroOptions { models: vec!["models".into()], slowest: 0.8 };
        let george = Voice::as_is("kokoro", "bm_george");
        assert_eq!(options.voice(&george).unwrap(), &VoiceEntry::Kokoro(kokoro));
    }
}

//! The services of one configuration.
//!
//! Entry type: [`Options`]; `config` builds it. **Never**: opens anything.

use std::path::PathBuf;

use super::{
    EntryList, Error, Kind,
    embedders::EmbedderEntry,
    models::ModelEntry,
    recognisers::RecogniserEntry,
    services::{NpcService, Services},
    speech_to_speech::Options as SpeechOptions,
    voices::{KokoroOptions, PiperOptions, VoiceEntry, VoiceService},
};
use crate::{
    domain::{EngineKind, Npc, Voice},
    weights::Weights,
};

/// Which services are used, and how they are reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Turns speech into text.
    pub recogniser: RecogniserEntry,
    /// Answer for the NPCs, in order of preference.
    pub models: EntryList<ModelEntry>,
    /// Voice services NPCs may name, each once; the first speaks for those that name none.
    pub voices: Vec<VoiceEntry>,
    /// Hears and speaks for NPCs whose engine it is; `None`: no NPC has that engine.
    pub speech_to_speech: Option<SpeechOptions>,
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

    /// What the services are, with those that speak for the NPCs of `cast`. An NPC of a
    /// speech-to-speech service keeps its voice, which speaks while that service cannot.
    pub fn describe(&self, cast: &[Npc]) -> Services {
        let mut speaks = Vec::new();
        // A voice whose service is not configured does not speak, so nothing goes there.
        let all = cast.iter().map(|npc| &npc.voice);
        let all = all.flat_map(|voice| [Some(voice), voice.fallback.as_deref()]).flatten();
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
        let hears = self.recogniser.info();
        let speaks_and_hears = self.own_voice(cast).into_iter().collect();
        Services { hears, here, thinks, sums_up, speaks, speaks_and_hears }
    }

    /// Which NPCs of `cast` hear the players themselves, and through which service.
    fn own_voice(&self, cast: &[Npc]) -> Option<NpcService> {
        let service = self.speech_to_speech.as_ref()?.info();
        let is_heard_so = |npc: &&Npc| npc.engine == EngineKind::SpeechToSpeech;
        let npcs: Vec<_> = cast.iter().filter(is_heard_so).map(|npc| npc.name.clone()).collect();
        (!npcs.is_empty()).then_some(NpcService { npcs, service })
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
            speech_to_speech: None,
            embedder: None,
            turn_model: "smart-turn".into(),
        };
        let fallback = Some(Box::new(Voice::as_is("flite", "slt")));
        let voice = Voice { fallback, ..Voice::as_is("piper", "joe") };
        let npc = Npc { voice: voice.clone(), ..Npc::plain("Bartok") };
        let speaks = options.describe(&[npc]).speaks;
        assert_eq!(speaks, [ServiceInfo::here("Piper"), ServiceInfo::here("flite")]);
        let folder = PiperOptions { models: vec!["models".into()] };
        assert_eq!(options.voice(&voice).unwrap(), &VoiceEntry::Piper(folder));
        assert_eq!(options.describe(&[]).thinks, [ServiceInfo::here("written lines")]);
        let kokoro = KokoroOptions { models: vec!["models".into()], slowest: 0.8 };
        let george = Voice::as_is("kokoro", "bm_george");
        assert_eq!(options.voice(&george).unwrap(), &VoiceEntry::Kokoro(kokoro));
    }

    #[test]
    fn npcs_that_hear_own_voices_are_named() {
        let weights = Weights::new("models".into(), None, Vec::new());
        let without = Options {
            recogniser: RecogniserEntry::Local(HereOptions { weights, language: "en".to_owned() }),
            models: EntryList::default(),
            voices: vec![VoiceEntry::Flite],
            speech_to_speech: None,
            embedder: None,
            turn_model: "smart-turn".into(),
        };
        let named = |name: &str, engine| Npc { engine, ..Npc::plain(name) };
        let (hears, reads) = (EngineKind::SpeechToSpeech, EngineKind::Cascaded);
        let cast = [named("Bartok", hears), named("Mira", reads), named("Hale", hears)];
        assert_eq!(without.describe(&cast).speaks_and_hears, []);
        let options = Options {
            speech_to_speech: Some(SpeechOptions::of_tests("https://api.openai.com/v1")),
            ..without
        };
        assert_eq!(options.describe(&cast[1..2]).speaks_and_hears, [], "nobody uses it");
        let services = options.describe(&cast);
        let [service] = services.speaks_and_hears.as_slice() else { unreachable!("one service") };
        assert_eq!(service.npcs, ["Bartok", "Hale"]);
        assert_eq!(service.service.to_string(), "gpt-realtime-2.1 at api.openai.com");
        assert_eq!(services.outside().collect::<Vec<_>>(), [&service.service]);
        let told: Vec<_> = services.announced().collect();
        let fewer: Vec<_> = options.describe(&cast[..2]).announced().collect();
        assert!(told.len() == 3 && fewer.len() == 2, "each NPC is news: {told:?}, {fewer:?}");
        assert_eq!(nearby(&options).describe(&cast).announced().count(), 0);
    }

    /// The same where the service stands on this machine's network.
    fn nearby(options: &Options) -> Options {
        let near = SpeechOptions::of_tests("http://127.0.0.1:9/v1");
        Options { speech_to_speech: Some(near), ..options.clone() }
    }
}

//! Services of one configuration.
//!
//! Entry type: [`Options`]; `config` builds it. **Never**: opens anything.

use std::path::PathBuf;

use super::{
    EntryList, Error, Kind,
    embedders::EmbedderEntry,
    images::ImageEntry,
    models::ModelEntry,
    recognisers::RecogniserEntry,
    searches::SearchOptions,
    services::{NpcService, Services},
    speech_to_speech::Options as SpeechOptions,
    voices::{VoiceEntry, VoiceList},
};
use crate::{
    domain::{EngineKind, Npc, Voice},
    weights::Weights,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// In order of preference.
    pub recognisers: EntryList<RecogniserEntry>,
    pub models: EntryList<ModelEntry>,
    /// Voice services NPCs may name. NPCs that name none use the first.
    pub voices: VoiceList,
    /// Speech-to-speech services, each once. NPCs of that engine that name none use the first.
    pub speech_to_speech: Vec<SpeechOptions>,
    /// `None`: meanings are compared by shared words.
    pub embedder: Option<EmbedderEntry>,
    pub image: Option<ImageEntry>,
    pub search: Option<SearchOptions>,
    /// File of the sound model that judges whether an utterance is finished.
    pub turn_model: PathBuf,
}

impl Options {
    #[must_use]
    pub fn with_weights(mut self, weights: &Weights) -> Self {
        for named in &mut self.recognisers.entries {
            if let RecogniserEntry::Local(here) = &mut named.entry {
                here.weights = weights.clone();
            }
        }
        for voice in self.voices.iter_mut() {
            match voice {
                VoiceEntry::Piper(piper) => piper.models = weights.folders(),
                VoiceEntry::Kokoro(kokoro) => kokoro.models = weights.folders(),
                _ => {}
            }
        }
        self
    }

    /// The entry that speaks `voice`; fails if its service is not configured.
    pub fn voice(&self, voice: &Voice) -> Result<&VoiceEntry, Error> {
        self.voices.get(&voice.provider).map(|named| &named.entry).ok_or_else(|| {
            let text = format!(
                "the voice service \"{}\" is not configured (set providers.tts, or the voice's \
                 provider)",
                voice.provider
            );
            Error::new(Kind::Missing, text)
        })
    }

    /// Speech-to-speech entry of `npc`; `None`: not configured, or the NPC uses another engine.
    pub fn speech_to_speech_of(&self, npc: &Npc) -> Option<&SpeechOptions> {
        SpeechOptions::of(&self.speech_to_speech, npc.s2s.provider.as_deref())
    }

    /// Speech-to-speech entries used by NPCs of `cast`, each with those NPCs.
    pub fn hear_own_voices<'a>(
        &'a self,
        cast: &'a [Npc],
    ) -> Vec<(&'a SpeechOptions, Vec<&'a Npc>)> {
        let all = self.speech_to_speech.iter().map(|entry| {
            let is_its = |npc: &&Npc| {
                npc.engine == EngineKind::SpeechToSpeech
                    && self.speech_to_speech_of(npc) == Some(entry)
            };
            (entry, cast.iter().filter(is_its).collect::<Vec<_>>())
        });
        all.filter(|(_, npcs)| !npcs.is_empty()).collect()
    }

    /// Describes the services used by `cast`, without programs of the listener. A speech-to-speech
    /// NPC keeps its voice, which speaks while that service cannot.
    pub fn describe(&self, cast: &[Npc]) -> Services {
        let mut speaks = Vec::new();
        // A voice without a configured service is silent and sends nothing.
        let all = cast.iter().flat_map(|npc| self.voices.speaks(npc));
        for entry in all.filter_map(|voice| self.voice(&voice).ok()) {
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
        let here = self.recognisers.only_here().cloned();
        let mut hears = Vec::new();
        for service in self.recognisers.iter().map(RecogniserEntry::info) {
            if !hears.contains(&service) {
                hears.push(service);
            }
        }
        let talks = self.hear_own_voices(cast).into_iter();
        let speaks_and_hears = talks.map(|(entry, npcs)| NpcService {
            npcs: npcs.into_iter().map(|npc| npc.name.clone()).collect(),
            service: entry.info(),
        });
        let compares = self.embedder.as_ref().map(EmbedderEntry::info);
        let draws = self.image.as_ref().map(ImageEntry::info);
        let searches = self.search.as_ref().map(SearchOptions::info);
        let speaks_and_hears = speaks_and_hears.collect();
        Services {
            hears,
            here,
            thinks,
            sums_up,
            speaks,
            speaks_and_hears,
            compares,
            draws,
            searches,
            programs: None,
            collector: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::S2s,
        provider::{HereOptions, KokoroOptions, PiperOptions, ServiceInfo, SpeechService},
    };

    #[test]
    fn fallback_voices_are_listed_as_services() {
        let weights = Weights::new("models".into(), None, Vec::new());
        let options = Options {
            recognisers: EntryList::here(HereOptions { weights, language: "en".to_owned() }),
            models: EntryList::default(),
            voices: VoiceList::default().with_models(&["models".into()], 0.8),
            speech_to_speech: Vec::new(),
            embedder: None,
            image: None,
            search: None,
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
            recognisers: EntryList::here(HereOptions { weights, language: "en".to_owned() }),
            models: EntryList::default(),
            voices: VoiceList::default(),
            speech_to_speech: Vec::new(),
            embedder: None,
            image: None,
            search: None,
            turn_model: "smart-turn".into(),
        };
        let named = |name: &str, engine| Npc { engine, ..Npc::plain(name) };
        let (hears, reads) = (EngineKind::SpeechToSpeech, EngineKind::Cascaded);
        let cast = [named("Bartok", hears), named("Mira", reads), named("Hale", hears)];
        assert_eq!(without.describe(&cast).speaks_and_hears, []);
        let options = Options {
            speech_to_speech: vec![SpeechOptions::of_tests("https://api.openai.com/v1")],
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

    fn nearby(options: &Options) -> Options {
        let near = SpeechOptions::of_tests("http://127.0.0.1:9/v1");
        Options { speech_to_speech: vec![near], ..options.clone() }
    }

    #[test]
    fn each_service_is_named_with_its_own_npcs() {
        let weights = Weights::new("models".into(), None, Vec::new());
        let openai = SpeechOptions::of_tests("https://api.openai.com/v1");
        let gemini = SpeechOptions {
            service: SpeechService::Gemini,
            base_url: "https://google.example".to_owned(),
            model: "gemini-3.8-live".to_owned(),
            ..openai.clone()
        };
        let options = Options {
            recognisers: EntryList::here(HereOptions { weights, language: "en".to_owned() }),
            models: EntryList::default(),
            voices: VoiceList::default(),
            speech_to_speech: vec![openai, gemini],
            embedder: None,
            image: None,
            search: None,
            turn_model: "smart-turn".into(),
        };
        let named = |name: &str, provider: Option<&str>| Npc {
            engine: EngineKind::SpeechToSpeech,
            s2s: S2s { provider: provider.map(str::to_owned), ..S2s::default() },
            ..Npc::plain(name)
        };
        let odo = named("Odo", None);
        let cast = [named("Gisela", Some("gemini-live")), odo, named("Pip", Some("another"))];
        let services = options.describe(&cast).speaks_and_hears;
        let told: Vec<_> =
            services.iter().map(|it| (it.npcs.join(", "), it.service.to_string())).collect();
        let wanted = [
            ("Odo", "gpt-realtime-2.1 at api.openai.com"),
            ("Gisela", "gemini-3.8-live at google.example"),
        ];
        assert_eq!(told, wanted.map(|(npcs, service)| (npcs.to_owned(), service.to_owned())));
        let alone = options.describe(&cast[..1]);
        assert_eq!(alone.speaks_and_hears.len(), 1, "the first is not used");
        assert_eq!(options.speech_to_speech_of(&cast[2]), None, "never another than it names");
    }
}

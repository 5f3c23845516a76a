//! Every outside service of the program, opened once and shared by all tables.
//!
//! Entry type: [`Registry`]. Equal settings share one client, its connections and everything learnt
//! about the server; changed settings open another one. Opening fails on an invalid address or key.
//! **Never**: a service outside it that talks to the outside.

use std::{path::PathBuf, sync::Arc};

use super::{
    Chain, ChatModel, Embedder, Error, ImageModel, Kind, OpenVoice, SpeechToSpeech, SpeechToText,
    TextToSpeech, TurnJudge,
    contracts::WebSearch,
    embedders::Embedders,
    entries::Pool,
    gemini::GeminiLive,
    images::Painters,
    models::Models,
    options::Options,
    realtime::Realtime,
    recognisers::{RecogniserEntry, Recognisers},
    searches::Searches,
    smart_turn::SmartTurn,
    speech_to_speech::{Options as SpeechOptions, SpeechService},
    voices::VoiceChains,
};
use crate::domain::{Npc, Voice};

#[derive(Clone, Default)]
pub struct Registry(Arc<Opened>);

#[derive(Default)]
struct Opened {
    recognisers: Recognisers,
    models: Models,
    voices: VoiceChains,
    voice_models: Pool<SpeechOptions, Arc<dyn SpeechToSpeech>>,
    embedders: Embedders,
    painters: Painters,
    judges: Pool<PathBuf, SmartTurn>,
    searches: Searches,
}

impl Registry {
    /// The recognisers for one table, the preferred one first; loads nothing yet. Tables share each
    /// entry's health while its settings stay the same.
    pub fn recognisers(&self, options: &Options) -> Result<Chain<dyn SpeechToText>, Error> {
        self.0.recognisers.chain(&options.recognisers)
    }

    /// The chat models of `npc`, the preferred one first. `seed` varies scripted lines. Tables
    /// share each entry's health while its settings stay the same.
    pub fn models(
        &self,
        options: &Options,
        npc: &Npc,
        seed: u64,
    ) -> Result<Chain<dyn ChatModel>, Error> {
        self.0.models.chain(&options.models, npc, seed)
    }

    /// Services of `options` by kind and name; true: left alone after failures.
    pub fn breakers(&self, options: &Options) -> Vec<(&'static str, Vec<(String, bool)>)> {
        let Opened { models, recognisers, voices, .. } = &*self.0;
        vec![
            ("model", models.breakers(&options.models)),
            ("recogniser", recognisers.breakers(&options.recognisers)),
            ("voice", voices.breakers(&options.voices)),
        ]
    }

    /// The service that speaks `voice`.
    pub fn voice(&self, options: &Options, voice: &Voice) -> Result<Arc<dyn TextToSpeech>, Error> {
        self.0.voices.open(options.voice(voice)?)
    }

    /// The voices of `npc`, its own first; fails if the service of that is not configured. Tables
    /// share each entry's health while its settings stay the same.
    pub fn voices(&self, options: &Options, npc: &Npc) -> Result<Chain<OpenVoice>, Error> {
        options.voice(&npc.voice)?;
        self.0.voices.chain(&options.voices, npc)
    }

    /// Connects with the first session.
    pub fn speech_to_speech(
        &self,
        entry: &SpeechOptions,
    ) -> Result<Arc<dyn SpeechToSpeech>, Error> {
        let open = || -> Result<Arc<dyn SpeechToSpeech>, Error> {
            Ok(match entry.service {
                SpeechService::OpenAi => Arc::new(Realtime::new(entry.clone())?),
                SpeechService::Gemini => Arc::new(GeminiLive::new(entry.clone())?),
            })
        };
        self.0.voice_models.get(entry, open)
    }

    pub fn embedder(&self, options: &Options) -> Result<Option<Arc<dyn Embedder>>, Error> {
        options.embedder.as_ref().map(|entry| self.0.embedders.open(entry)).transpose()
    }

    pub fn painter(&self, options: &Options) -> Result<Option<Arc<dyn ImageModel>>, Error> {
        options.image.as_ref().map(|entry| self.0.painters.open(entry)).transpose()
    }

    /// Loads the model; fails if its file is missing or wrong.
    pub async fn turn_judge(&self, options: &Options) -> Result<Arc<dyn TurnJudge>, Error> {
        let (path, opened) = (options.turn_model.clone(), Arc::clone(&self.0));
        let load = move || opened.judges.get(&path, || SmartTurn::open(&path));
        let loaded = tokio::task::spawn_blocking(load).await.unwrap_or_else(|_| {
            Err(Error::new(
                Kind::Unavailable,
                "the sound model of turns crashed (please report this)",
            ))
        });
        loaded.map(|judge| Arc::new(judge) as _)
    }

    pub fn search(&self, options: &Options) -> Result<Option<Arc<dyn WebSearch>>, Error> {
        options.search.as_ref().map(|entry| self.0.searches.open(entry)).transpose()
    }

    pub async fn probe_recogniser(&self, entry: &RecogniserEntry) -> Result<String, Error> {
        self.0.recognisers.probe(entry).await
    }

    /// Drops services that `options` no longer name. Current users keep theirs.
    pub fn retain(&self, options: &Options) {
        self.0.recognisers.retain(&options.recognisers);
        self.0.models.retain(&options.models);
        self.0.voices.retain(&options.voices);
        self.0.voice_models.retain(|entry| options.speech_to_speech.contains(entry));
        self.0.embedders.retain(options.embedder.as_ref());
        self.0.painters.retain(options.image.as_ref());
        self.0.searches.retain(options.search.as_ref());
        self.0.judges.retain(|path| *path == options.turn_model);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        provider::{
            EntryList, HereOptions, ModelEntry, NamedEntry, VoiceEntry, VoiceList,
            openai::VoiceOptions, remote,
        },
        weights::Weights,
    };

    fn options(models: &[&str]) -> Options {
        let weights = Weights::new("models".into(), None, Vec::new());
        let entry = ModelEntry::OpenAi(remote::options("http://127.0.0.1:1/v1"));
        let named = |name: &&str| NamedEntry { name: (*name).to_owned(), entry: entry.clone() };
        Options {
            recognisers: EntryList::here(HereOptions { weights, language: "en".to_owned() }),
            models: EntryList { entries: models.iter().map(named).collect(), hedge: false },
            voices: VoiceList::default(),
            speech_to_speech: Vec::new(),
            embedder: None,
            image: None,
            search: None,
            turn_model: "smart-turn".into(),
        }
    }

    #[test]
    fn voice_model_is_shared_until_it_changes() {
        let registry = Registry::default();
        let of = |model: &str| {
            let entry = SpeechOptions::of_tests("http://127.0.0.1:1/v1");
            SpeechOptions { model: model.to_owned(), ..entry }
        };
        let gemini = SpeechOptions { service: SpeechService::Gemini, ..of("g") };
        let open = |entry: &SpeechOptions| registry.speech_to_speech(entry).unwrap();
        let (first, other) = (open(&of("a")), open(&gemini));
        assert!(Arc::ptr_eq(&first, &open(&of("a"))));
        assert!(!Arc::ptr_eq(&first, &open(&of("b"))));
        assert_eq!((first.model(), other.model()), ("a", "g"));
        let both = vec![of("b"), gemini.clone()];
        registry.retain(&Options { speech_to_speech: both, ..options(&["fast"]) });
        assert!(!Arc::ptr_eq(&first, &open(&of("a"))), "it was let go of");
        assert!(Arc::ptr_eq(&other, &open(&gemini)));
    }

    /// Names of the models `npc` may ask now.
    fn asked(registry: &Registry, options: &Options, npc: &Npc) -> Vec<String> {
        let chain = registry.models(options, npc, 1).unwrap();
        let closed = chain.iter().filter(|it| it.rest().is_none());
        closed.map(|it| it.name().to_string()).collect()
    }

    #[test]
    fn model_failures_are_shared_until_entry_removal() {
        let (registry, both) = (Registry::default(), options(&["fast", "main"]));
        let (bartok, mira) = (Npc::plain("Bartok"), Npc::plain("Mira"));
        let mira = Npc { llm: Some("main".to_owned()), ..mira };
        assert_eq!(asked(&registry, &both, &mira), ["main", "fast"]);
        let chain = registry.models(&both, &bartok, 1).unwrap();
        let (first, mut request) = chain.queue().take().unwrap();
        assert_eq!(&**first.name(), "fast");
        request.failed(&Error::new(Kind::Unauthorized, "no"));
        let breakers = registry.breakers(&both);
        let models = vec![("fast".to_owned(), true), ("main".to_owned(), false)];
        assert_eq!(breakers[..2], [("model", models), ("recogniser", Vec::new())]);
        assert_eq!(asked(&registry, &both, &mira), ["main"]);
        let more = options(&["other", "fast"]);
        registry.retain(&more);
        assert_eq!(asked(&registry, &more, &bartok), ["other"], "its entry is the same");
        let without = options(&["main"]);
        registry.retain(&without);
        assert_eq!(asked(&registry, &both, &bartok), ["fast", "main"], "it was let go of");
    }

    #[test]
    fn voice_failures_are_shared_until_entry_removal() {
        let entry = VoiceEntry::OpenAi(VoiceOptions::at("http://127.0.0.1:1/v1"));
        let named = |name: &str| NamedEntry { name: name.to_owned(), entry: entry.clone() };
        let of = |names: &[&str]| Options {
            voices: VoiceList::new(names.iter().map(|name| named(name)).collect()),
            ..options(&["fast"])
        };
        let (registry, both) = (Registry::default(), of(&["main", "spare"]));
        let npc = |name| Npc { voice: Voice::as_is("main", "alloy"), ..Npc::plain(name) };
        let resting = |options: &Options| {
            let chain = registry.voices(options, &npc("Mira")).unwrap();
            let all = chain.iter().filter(|it| it.rest().is_some());
            all.map(|it| it.name().to_string()).collect::<Vec<_>>()
        };
        let chain = registry.voices(&both, &npc("Bartok")).unwrap();
        assert_eq!(chain.iter().map(|it| &**it.name()).collect::<Vec<_>>(), ["main", "spare"]);
        let (_, mut request) = chain.queue().take().unwrap();
        request.failed(&Error::new(Kind::Unauthorized, "no"));
        assert_eq!(resting(&both), ["main"]);
        let breakers = vec![("main".to_owned(), true), ("spare".to_owned(), false)];
        assert_eq!(registry.breakers(&both)[2], ("voice", breakers));
        assert_eq!(both.describe(&[npc("Mira")]).speaks.len(), 1, "one server has both");
        registry.retain(&of(&["spare"]));
        assert!(resting(&both).is_empty(), "it was let go of");
        let none = Npc { voice: Voice::as_is("wyoming", "joe"), ..Npc::plain("Hale") };
        assert!(registry.voices(&both, &none).is_err());
    }
}

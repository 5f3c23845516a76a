//! The recognisers there are, and one of them with its settings.
//!
//! Entry types: [`RecogniserService`], [`RecogniserEntry`]; [`Recognisers`] opens entries.
//! **Never**: loads a model where the one before it would have done.

mod here;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

pub use here::HereOptions;

use self::here::{Here, Used};
use super::{
    Error, SpeechToText,
    deepgram::{self, Deepgram},
    local::{self, Local, Vocabulary},
    openai,
    pool::Pool,
    service::ServiceInfo,
    whisper::{Engine, Whisper},
    wyoming,
};

/// The recognisers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecogniserService {
    /// Whisper or PocketSphinx on this machine.
    #[default]
    Local,
    /// An OpenAI-compatible service.
    OpenAi,
    /// Deepgram, which is paid by the minute.
    Deepgram,
    /// A service in the house that speaks Wyoming.
    Wyoming,
}

impl RecogniserService {
    /// All of them.
    const ALL: [Self; 4] = [Self::Local, Self::OpenAi, Self::Deepgram, Self::Wyoming];
    /// Their names in files.
    pub const NAMES: &[&str] = &[local::NAME, openai::NAME, deepgram::NAME, wyoming::NAME];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => local::NAME,
            Self::OpenAi => openai::NAME,
            Self::Deepgram => deepgram::NAME,
            Self::Wyoming => wyoming::NAME,
        }
    }
}

/// A recogniser with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum RecogniserEntry {
    /// Whisper, where its weights are, or PocketSphinx, both told of the campaign.
    Local(HereOptions),
    /// An OpenAI-compatible service.
    OpenAi {
        /// How it is reached.
        options: openai::Options,
        /// ISO 639-1 code of what is spoken.
        language: String,
    },
    /// Deepgram, which sends words while somebody speaks.
    Deepgram(deepgram::Options),
    /// A service in the house that speaks Wyoming.
    Wyoming {
        /// How it is reached.
        options: wyoming::Options,
        /// ISO 639-1 code of what is spoken.
        language: String,
    },
}

impl RecogniserEntry {
    /// What it is, and where what is said goes.
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Local(options) => options.info(),
            Self::OpenAi { options, .. } => options.info(),
            Self::Deepgram(options) => options.info(),
            Self::Wyoming { options, .. } => options.info(),
        }
    }
}

/// What to expect of Whisper; benches/README.md says how it was measured.
const WELL: &str =
    "on this machine; of people who read 4 to 5 words of 100 were wrong, of robots' voices 2 to 13";
/// What to expect of it in another language than English.
const UNMEASURED: &str =
    "on this machine; how well it hears people in this language has not been measured";
/// What to expect of PocketSphinx.
const POORLY: &str = "English only; of people talking freely every second or third word is wrong";

/// Recognisers that are open.
#[derive(Default)]
pub struct Recognisers {
    /// The latest of this machine, with what it listens for.
    local: Mutex<Option<(Vocabulary, Arc<Local>)>>,
    /// By set, folder and language.
    whisper: Pool<(&'static str, PathBuf, String), Arc<Engine>>,
    openai: Pool<RecogniserEntry, Arc<openai::Transcription>>,
    deepgram: Pool<deepgram::Options, Arc<Deepgram>>,
    wyoming: Pool<RecogniserEntry, Arc<wyoming::Recogniser>>,
}

impl Recognisers {
    /// The recogniser for one table. That of this machine is the latest one again where it listens
    /// for the same; a service is told its names by the table.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(
        &self,
        entry: &RecogniserEntry,
        vocabulary: impl FnOnce() -> Vocabulary,
    ) -> Result<Arc<dyn SpeechToText>, Error> {
        Ok(match entry {
            RecogniserEntry::Local(options) => Arc::new(self.here(options, vocabulary())?),
            RecogniserEntry::OpenAi { options, language } => {
                let open = || {
                    let language = Some(language.clone());
                    Ok(Arc::new(openai::Transcription::new(options.clone(), language)?))
                };
                Arc::new(self.openai.get(entry, open)?.for_another_table())
            }
            RecogniserEntry::Deepgram(options) => {
                let open = || Ok(Arc::new(Deepgram::new(options.clone())?));
                Arc::new(self.deepgram.get(options, open)?.for_another_table())
            }
            RecogniserEntry::Wyoming { options, language } => {
                let open = || Ok(Arc::new(wyoming::Recogniser::new(options.clone(), language)));
                Arc::new(self.wyoming.get(entry, open)?.for_another_table())
            }
        })
    }

    /// Whether `entry` can be used; one line for a report.
    ///
    /// # Errors
    /// Why it cannot, and the way out.
    pub async fn probe(
        &self,
        entry: &RecogniserEntry,
        vocabulary: impl FnOnce() -> Vocabulary,
    ) -> Result<String, Error> {
        match entry {
            RecogniserEntry::Local(options) => {
                let here = self.here(options, vocabulary())?;
                Ok(match here.used().await? {
                    Used::Best => {
                        let expected = if options.language == "en" { WELL } else { UNMEASURED };
                        format!("{}, {expected}", options.info())
                    }
                    Used::Floor(why) => format!("PocketSphinx, {POORLY}: {why}"),
                })
            }
            RecogniserEntry::OpenAi { options, .. } => openai::probe(options.clone()).await,
            RecogniserEntry::Deepgram(options) => deepgram::probe(options.clone()).await,
            RecogniserEntry::Wyoming { options, language } => {
                wyoming::probe_recogniser(options.clone(), language).await
            }
        }
    }

    /// Lets go of all but `wanted`. What is loaded on this machine stays for the next table.
    pub fn retain(&self, wanted: &RecogniserEntry) {
        self.openai.retain(|entry| entry == wanted);
        let is_wanted = |it: &deepgram::Options| *wanted == RecogniserEntry::Deepgram(it.clone());
        self.deepgram.retain(is_wanted);
        self.wyoming.retain(|entry| entry == wanted);
    }

    /// Whisper with the weights that are here, and PocketSphinx.
    fn here(&self, options: &HereOptions, vocabulary: Vocabulary) -> Result<Here, Error> {
        let names = vocabulary.names.iter().chain(&vocabulary.people).chain(&vocabulary.places);
        let mut known: Vec<String> = Vec::new();
        // Mira is in Mira Quickfingers already.
        for name in names {
            if !known.iter().any(|longer| longer.contains(&name.text)) {
                known.push(name.text.clone());
            }
        }
        let best = match options.found() {
            Ok(found) => {
                let key = (found.name, found.folder, options.language.clone());
                let open = || Ok(Arc::new(Engine::new(key.0, &key.1, &key.2)));
                Ok(Whisper::new(self.whisper.get(&key, open)?, &known))
            }
            Err(not_here) => Err(not_here),
        };
        Ok(Here::new(best, self.local(vocabulary), &options.language))
    }

    /// The latest one if it listens for `vocabulary`, else a new one.
    fn local(&self, vocabulary: Vocabulary) -> Arc<Local> {
        let mut latest = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, local)) = latest.as_ref().filter(|(names, _)| *names == vocabulary) {
            return Arc::clone(local);
        }
        let local = Arc::new(Local::new(local::Options::default(), vocabulary.clone()));
        *latest = Some((vocabulary, Arc::clone(&local)));
        local
    }
}

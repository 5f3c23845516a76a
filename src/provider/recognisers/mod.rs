//! The recognisers there are, and one of them with its settings.
//!
//! Entry types: [`RecogniserService`], [`RecogniserEntry`]; [`Recognisers`] opens entries.
//! **Never**: loads a model that is loaded already.

mod here;

use std::{path::PathBuf, sync::Arc};

pub use here::HereOptions;

use self::here::Here;
use super::{
    Error, SpeechToText,
    deepgram::{self, Deepgram},
    openai,
    pool::Pool,
    service::ServiceInfo,
    whisper::{Engine, Whisper},
    wyoming,
};

/// The recognisers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecogniserService {
    /// Whisper on this machine.
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
    pub const NAMES: &[&str] = &[here::NAME, openai::NAME, deepgram::NAME, wyoming::NAME];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => here::NAME,
            Self::OpenAi => openai::NAME,
            Self::Deepgram => deepgram::NAME,
            Self::Wyoming => wyoming::NAME,
        }
    }
}

/// A recogniser with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum RecogniserEntry {
    /// Whisper, where its weights are.
    Local(HereOptions),
    /// An OpenAI-compatible service.
    OpenAi {
        /// Connection settings.
        options: openai::Options,
        /// ISO 639-1 code of what is spoken.
        language: String,
    },
    /// Deepgram, which sends words while somebody speaks.
    Deepgram(deepgram::Options),
    /// A service in the house that speaks Wyoming.
    Wyoming {
        /// Connection settings.
        options: wyoming::Options,
        /// ISO 639-1 code of what is spoken.
        language: String,
    },
}

impl RecogniserEntry {
    /// Name of the service, and the address that the sound goes to.
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Local(options) => options.info(),
            Self::OpenAi { options, .. } => options.info(),
            Self::Deepgram(options) => options.info(),
            Self::Wyoming { options, .. } => options.info(),
        }
    }
}

/// Accuracy of Whisper; benches/README.md says how it was measured.
const WELL: &str = "on this machine; about 5 words of 100 wrong for people reading aloud, 2 to 13 for robotic voices";
/// Accuracy of Whisper in languages other than English.
const UNMEASURED: &str = "on this machine; accuracy with people in this language not measured";

/// Recognisers that are open.
#[derive(Default)]
pub struct Recognisers {
    /// By set, folder and language.
    whisper: Pool<(&'static str, PathBuf, String), Arc<Engine>>,
    openai: Pool<RecogniserEntry, Arc<openai::Transcription>>,
    deepgram: Pool<deepgram::Options, Arc<Deepgram>>,
    wyoming: Pool<RecogniserEntry, Arc<wyoming::Recogniser>>,
}

impl Recognisers {
    /// The recogniser for one table, which tells it the names that are likely to be said.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(&self, entry: &RecogniserEntry) -> Result<Arc<dyn SpeechToText>, Error> {
        Ok(match entry {
            RecogniserEntry::Local(options) => Arc::new(self.here(options)?),
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

    /// Checks that `entry` can be used; one line for a report.
    ///
    /// # Errors
    /// It cannot be used; the error includes the fix.
    pub async fn probe(&self, entry: &RecogniserEntry) -> Result<String, Error> {
        match entry {
            RecogniserEntry::Local(options) => {
                self.here(options)?.ready().await?;
                let expected = if options.language == "en" { WELL } else { UNMEASURED };
                Ok(format!("{}, {expected}", options.info()))
            }
            RecogniserEntry::OpenAi { options, .. } => openai::probe(options.clone()).await,
            RecogniserEntry::Deepgram(options) => deepgram::probe(options.clone()).await,
            RecogniserEntry::Wyoming { options, language } => {
                wyoming::probe_recogniser(options.clone(), language).await
            }
        }
    }

    /// Lets go of all but `wanted`. Models loaded on this machine stay for the next table.
    pub fn retain(&self, wanted: &RecogniserEntry) {
        self.openai.retain(|entry| entry == wanted);
        let is_wanted = |it: &deepgram::Options| *wanted == RecogniserEntry::Deepgram(it.clone());
        self.deepgram.retain(is_wanted);
        self.wyoming.retain(|entry| entry == wanted);
    }

    /// Whisper with the weights that are here.
    fn here(&self, options: &HereOptions) -> Result<Here, Error> {
        Ok(Here::new(match options.found() {
            Ok(found) => {
                let key = (found.name, found.folder, options.language.clone());
                let open = || Ok(Arc::new(Engine::new(key.0, &key.1, &key.2)));
                Ok(Whisper::new(self.whisper.get(&key, open)?))
            }
            Err(not_here) => Err(not_here),
        }))
    }
}

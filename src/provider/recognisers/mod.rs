//! Kinds of recognisers, and their settings.
//!
//! Entry types: [`RecogniserService`], [`RecogniserEntry`]; [`Recognisers`] opens entries.
//! **Never**: loads a model twice.

mod here;

use std::{path::PathBuf, sync::Arc};

pub use here::HereOptions;

use self::here::Here;
use super::{
    Error, SpeechToText,
    deepgram::{self, Deepgram},
    entries::Pool,
    openai,
    service::ServiceInfo,
    whisper::{Engine, Whisper},
    wyoming,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecogniserService {
    #[default]
    Local,
    OpenAi,
    Deepgram,
    Wyoming,
}

impl RecogniserService {
    const ALL: [Self; 4] = [Self::Local, Self::OpenAi, Self::Deepgram, Self::Wyoming];
    /// Names in the configuration.
    pub const NAMES: &[&str] = &[here::NAME, openai::NAME, deepgram::NAME, wyoming::NAME];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => here::NAME,
            Self::OpenAi => openai::NAME,
            Self::Deepgram => deepgram::NAME,
            Self::Wyoming => wyoming::NAME,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum RecogniserEntry {
    Local(HereOptions),
    OpenAi {
        options: openai::Options,
        /// ISO 639-1 code of the spoken language.
        language: String,
    },
    Deepgram(deepgram::Options),
    Wyoming {
        options: wyoming::Options,
        /// ISO 639-1 code of the spoken language.
        language: String,
    },
}

impl RecogniserEntry {
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Local(options) => options.info(),
            Self::OpenAi { options, .. } => options.info(),
            Self::Deepgram(options) => options.info(),
            Self::Wyoming { options, .. } => options.info(),
        }
    }
}

const WELL: &str = "on this machine; about 5 words of 100 wrong for people reading aloud, 2 to 13 for robotic voices";
const UNMEASURED: &str = "on this machine; accuracy with people in this language not measured";

#[derive(Default)]
pub struct Recognisers {
    /// By set, folder and language.
    whisper: Pool<(&'static str, PathBuf, String), Arc<Engine>>,
    openai: Pool<RecogniserEntry, Arc<openai::Transcription>>,
    deepgram: Pool<deepgram::Options, Arc<Deepgram>>,
    wyoming: Pool<RecogniserEntry, Arc<wyoming::Recogniser>>,
}

impl Recognisers {
    /// The recogniser of one table, with its own expected names.
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

    /// Drops all but `wanted`. Models loaded on this machine stay for the next table.
    pub fn retain(&self, wanted: &RecogniserEntry) {
        self.openai.retain(|entry| entry == wanted);
        let is_wanted = |it: &deepgram::Options| *wanted == RecogniserEntry::Deepgram(it.clone());
        self.deepgram.retain(is_wanted);
        self.wyoming.retain(|entry| entry == wanted);
    }

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

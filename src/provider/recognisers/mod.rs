//! Kinds of recognisers, and their settings.
//!
//! Entry types: [`RecogniserService`], [`RecogniserEntry`]; [`Recognisers`] opens entries and chains
//! them.
//! **Never**: loads a model twice.

mod here;

use std::{path::PathBuf, sync::Arc};

use futures::future::join_all;

pub use here::HereOptions;

use self::here::Here;
use super::{
    Candidate, Chain, EntryList, Error, Kind, NamedEntry, SpeechToText, SttAbilities,
    chain::Health,
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

impl EntryList<RecogniserEntry> {
    /// The recogniser of this machine alone.
    pub fn here(options: HereOptions) -> Self {
        Self::of(here::NAME, RecogniserEntry::Local(options))
    }

    /// Options of this machine's recogniser, if it is the only one.
    pub fn only_here(&self) -> Option<&HereOptions> {
        match self.entries.as_slice() {
            [NamedEntry { entry: RecogniserEntry::Local(here), .. }] => Some(here),
            _ => None,
        }
    }
}

impl Chain<dyn SpeechToText> {
    /// Name of the one that a request would begin with now: that of the service if there is one,
    /// else of its entry.
    pub fn called(&self) -> Arc<str> {
        match self.next_asked() {
            Some(only) if self.is_alone() => only.service().name().into(),
            Some(of_several) => Arc::clone(of_several.name()),
            None => Arc::from(""),
        }
    }

    /// Resolves once all have tried to load; fails with the reason of the first if none can hear.
    pub async fn ready(&self) -> Result<(), Error> {
        let loading: Vec<_> = self.iter().map(|it| it.service().ready()).collect();
        let loaded = join_all(loading).await;
        let (mut first, mut is_ready) = (None, false);
        for (candidate, loaded) in self.iter().zip(loaded) {
            match loaded {
                Ok(()) => is_ready = true,
                Err(error) => {
                    if !self.is_alone() {
                        let service = &**candidate.name();
                        tracing::warn!(service, %error, "a recogniser cannot hear");
                    }
                    first = first.or(Some(error));
                }
            }
        }
        first.filter(|_| !is_ready).map_or(Ok(()), Err)
    }

    /// Abilities of the one that a request would begin with now.
    pub fn abilities(&self) -> SttAbilities {
        self.next_asked().map(|it| it.service().abilities()).unwrap_or_default()
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
    /// Shared by all tables.
    health: Pool<NamedEntry<RecogniserEntry>, Arc<Health>>,
}

impl Recognisers {
    /// The recognisers of one table, the preferred one first, with their own expected names.
    pub fn chain(
        &self,
        list: &EntryList<RecogniserEntry>,
    ) -> Result<Chain<dyn SpeechToText>, Error> {
        let open = |named: &NamedEntry<RecogniserEntry>| -> Result<_, Error> {
            let health = self.health.get(named, || Ok(Arc::default()))?;
            Ok(Candidate::new(&named.name, self.open(&named.entry)?, health))
        };
        let all = list.entries.iter().map(open).collect::<Result<Vec<_>, Error>>()?;
        Chain::in_order(all, false).ok_or_else(|| {
            Error::new(Kind::Missing, "no recogniser is configured (set providers.stt)")
        })
    }

    /// Recognisers of a list by name; true: left alone after failures. A lone one is always asked.
    pub fn breakers(&self, list: &EntryList<RecogniserEntry>) -> Vec<(String, bool)> {
        match list.entries.as_slice() {
            [_] => Vec::new(),
            all => self.health.breakers(all),
        }
    }

    fn open(&self, entry: &RecogniserEntry) -> Result<Arc<dyn SpeechToText>, Error> {
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
    pub fn retain(&self, wanted: &EntryList<RecogniserEntry>) {
        let is_wanted = |entry: &RecogniserEntry| wanted.iter().any(|it| it == entry);
        self.openai.retain(is_wanted);
        self.deepgram.retain(|it| is_wanted(&RecogniserEntry::Deepgram(it.clone())));
        self.wyoming.retain(is_wanted);
        self.health.retain(|named| wanted.entries.contains(named));
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

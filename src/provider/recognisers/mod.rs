//! The recognisers there are, and one of them with its settings.
//!
//! Entry types: [`RecogniserService`], [`RecogniserEntry`]; [`Recognisers`] opens entries.
//! **Never**: loads a model where the one before it would have done.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    Error, SpeechToText,
    local::{self, Local, Vocabulary},
    openai,
    pool::Pool,
    service::ServiceInfo,
};

/// The recognisers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecogniserService {
    /// PocketSphinx on this machine.
    #[default]
    Local,
    /// An OpenAI-compatible service.
    OpenAi,
}

impl RecogniserService {
    /// All of them.
    const ALL: [Self; 2] = [Self::Local, Self::OpenAi];
    /// Their names in files.
    pub const NAMES: &[&str] = &[local::NAME, openai::NAME];

    /// The one that files call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.name() == name)
    }

    /// Its name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => local::NAME,
            Self::OpenAi => openai::NAME,
        }
    }
}

/// A recogniser with its settings.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one in a configuration")]
pub enum RecogniserEntry {
    /// PocketSphinx, tuned to the campaign.
    #[default]
    Local,
    /// An OpenAI-compatible service.
    OpenAi {
        /// How it is reached.
        options: openai::Options,
        /// ISO 639-1 code of what is spoken.
        language: String,
    },
}

impl RecogniserEntry {
    /// What it is, and where what is said goes.
    pub fn info(&self) -> ServiceInfo {
        match self {
            Self::Local => ServiceInfo::here("PocketSphinx"),
            Self::OpenAi { options, .. } => options.info(),
        }
    }
}

/// Recognisers that are open.
#[derive(Default)]
pub struct Recognisers {
    /// The latest of this machine, with what it listens for.
    local: Mutex<Option<(Vocabulary, Arc<Local>)>>,
    openai: Pool<RecogniserEntry, Arc<openai::Transcription>>,
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
            RecogniserEntry::Local => self.local(vocabulary()),
            RecogniserEntry::OpenAi { options, language } => {
                let open = || {
                    let language = Some(language.clone());
                    Ok(Arc::new(openai::Transcription::new(options.clone(), language)?))
                };
                Arc::new(self.openai.get(entry, open)?.for_another_table())
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
            RecogniserEntry::Local => {
                self.local(vocabulary()).ready().await?;
                Ok("local recogniser: English, for demos; expect errors with real voices"
                    .to_owned())
            }
            RecogniserEntry::OpenAi { options, .. } => openai::probe(options.clone()).await,
        }
    }

    /// Lets go of all but `wanted`. What is loaded on this machine stays for the next table.
    pub fn retain(&self, wanted: &RecogniserEntry) {
        self.openai.retain(|entry| entry == wanted);
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

//! The recogniser of this machine: Whisper where its weights are, else PocketSphinx.
//!
//! Entry types: [`HereOptions`], [`Here`]. **Never**: changes to another one without saying so.

use std::{path::PathBuf, sync::Arc};

use futures::{
    FutureExt, TryFutureExt,
    future::BoxFuture,
    stream::{BoxStream, StreamExt},
};
use tokio::sync::{OnceCell, mpsc};

use crate::{
    audio::Frame,
    provider::{
        Attempts, Error, SpeechEvent, SpeechToText, SttAbilities,
        local::{self, Local},
        service::ServiceInfo,
        whisper::Whisper,
    },
    weights::{NotHere, Weights},
};

/// Sets of weights that hear English, the best first.
const ENGLISH: &[&str] = &["whisper-tiny.en", "whisper-base"];
/// Sets of weights that hear any other language.
const OTHERS: &[&str] = &["whisper-base"];

/// What is heard on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct HereOptions {
    /// The model files there may be.
    pub weights: Weights,
    /// ISO 639-1 code of what is spoken.
    pub language: String,
}

/// Weights that hear.
#[derive(Clone, Debug, PartialEq)]
pub struct Installed {
    /// Of the set.
    pub name: &'static str,
    /// Where they lie.
    pub folder: PathBuf,
}

impl HereOptions {
    /// The weights that hear the language best.
    ///
    /// # Errors
    /// Which ones are missing or damaged, and how to get them.
    pub fn found(&self) -> Result<Installed, NotHere> {
        let names = if self.language == "en" { ENGLISH } else { OTHERS };
        let mut first = None;
        for name in names {
            match self.weights.installed(name) {
                Ok(folder) => return Ok(Installed { name, folder }),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| NotHere::Unknown(self.language.clone())))
    }

    /// What hears, and where what is said goes.
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::here(match self.found() {
            Ok(Installed { name, .. }) if name == ENGLISH[0] => "Whisper tiny.en",
            Ok(_) => "Whisper base",
            Err(_) => "PocketSphinx",
        })
    }
}

/// Hears one table.
pub struct Here(Arc<Parts>);

struct Parts {
    /// What hears best, or why it cannot.
    best: Result<Whisper, NotHere>,
    /// What hears otherwise: English.
    floor: Arc<Local>,
    /// Code of what is spoken.
    language: String,
    used: OnceCell<Used>,
}

/// Which of the two hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Used {
    /// Whisper, with the weights that are here.
    Best,
    /// PocketSphinx, and why.
    Floor(String),
}

impl Here {
    /// Hears `language` with the `best` there is, else with the `floor`. Nothing is loaded yet.
    pub fn new(best: Result<Whisper, NotHere>, floor: Arc<Local>, language: &str) -> Self {
        let language = language.to_owned();
        Self(Arc::new(Parts { best, floor, language, used: OnceCell::new() }))
    }

    /// What hears, once it is loaded.
    ///
    /// # Errors
    /// Nothing does: why, and the ways out.
    pub async fn used(&self) -> Result<Used, Error> {
        self.0.used().await
    }
}

impl Parts {
    async fn used(&self) -> Result<Used, Error> {
        self.used.get_or_try_init(|| self.load()).await.cloned()
    }

    async fn load(&self) -> Result<Used, Error> {
        let why = match &self.best {
            Ok(whisper) => match whisper.ready().await {
                Ok(()) => return Ok(Used::Best),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        self.floor
            .ready()
            .await
            .map_err(|floor| Error::new(floor.kind(), format!("{why}; and without it {floor}")))?;
        match &self.best {
            Err(NotHere::Absent(_)) if self.language == "en" => {
                tracing::debug!(why, "hearing with PocketSphinx");
            }
            Err(NotHere::Absent(_)) => {
                tracing::warn!(
                    why,
                    language = self.language,
                    "hearing with PocketSphinx, English only"
                );
            }
            _ => tracing::error!(why, "hearing with PocketSphinx"),
        }
        Ok(Used::Floor(why))
    }
}

impl SpeechToText for Here {
    fn name(&self) -> &'static str {
        local::NAME
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities { partials: true, ..SttAbilities::default() }
    }

    fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        if let Ok(whisper) = &self.0.best {
            whisper.expect(&names());
        }
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        let parts = Arc::clone(&self.0);
        async move { parts.used().await.map(drop) }.boxed()
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        attempts: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let parts = Arc::clone(&self.0);
        async move {
            Ok(match (parts.used().await?, &parts.best) {
                (Used::Best, Ok(whisper)) => whisper.listen(audio),
                _ => parts.floor.listen(audio, attempts),
            })
        }
        .try_flatten_stream()
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::local::Vocabulary;

    #[tokio::test]
    async fn with_nothing_installed_both_ways_out_are_named() {
        let options = local::Options { models: "/nowhere".into(), ..local::Options::default() };
        let floor = Arc::new(Local::new(options, Vocabulary::default()));
        let here = Here::new(Err(NotHere::Absent(ENGLISH[0].to_owned())), floor, "en");
        let error = here.ready().await.unwrap_err().to_string();
        for wanted in ["glyphoxa models get whisper-tiny.en", "pocketsphinx-en-us"] {
            assert!(error.contains(wanted), "{error}");
        }
    }
}

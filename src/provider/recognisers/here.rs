//! The recogniser of this machine: Whisper with installed weights.
//!
//! Entry types: [`HereOptions`], [`Here`]. **Never**: uses weights of another language.

use std::path::PathBuf;

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use tokio::sync::mpsc;

use crate::{
    audio::Frame,
    provider::{
        Attempts, Error, Kind, SpeechEvent, SpeechToText, SttAbilities, service::ServiceInfo,
        whisper::Whisper,
    },
    weights::{NotHere, Weights},
};

pub const NAME: &str = "local";

/// Weights for English, the best first.
const ENGLISH: &[&str] = &["whisper-tiny.en", "whisper-base"];
/// Weights for any other language.
const OTHERS: &[&str] = &["whisper-base"];

#[derive(Clone, Debug, PartialEq)]
pub struct HereOptions {
    pub weights: Weights,
    /// ISO 639-1 code of the spoken language.
    pub language: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Installed {
    pub name: &'static str,
    pub folder: PathBuf,
}

impl HereOptions {
    /// The best installed weights for the language. The error names missing or damaged weights and
    /// how to get them.
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

    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::here(match self.found() {
            Ok(Installed { name, .. }) if name == ENGLISH[0] => "Whisper tiny.en",
            _ => "Whisper base",
        })
    }
}

/// Hears one table, or reports why it cannot.
pub struct Here(Result<Whisper, NotHere>);

impl Here {
    /// Loads nothing yet.
    pub const fn new(whisper: Result<Whisper, NotHere>) -> Self {
        Self(whisper)
    }
}

fn missing(why: &NotHere) -> Error {
    Error::new(Kind::Missing, why.to_string())
}

impl SpeechToText for Here {
    fn name(&self) -> &'static str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities { partials: true, ..SttAbilities::default() }
    }

    fn expect(&self, names: &dyn Fn() -> Vec<String>) {
        if let Ok(whisper) = &self.0 {
            whisper.expect(&names());
        }
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        match &self.0 {
            Ok(whisper) => whisper.ready(),
            Err(why) => futures::future::ready(Err(missing(why))).boxed(),
        }
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        _: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        match &self.0 {
            Ok(whisper) => whisper.listen(audio),
            Err(why) => stream::iter([Err(missing(why))]).boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_weights_the_command_is_named() {
        for (language, set) in [("en", "whisper-tiny.en"), ("de", "whisper-base")] {
            let weights = Weights::new("/nowhere".into(), None, Vec::new());
            let options = HereOptions { weights, language: language.to_owned() };
            let here = Here::new(Err(options.found().unwrap_err()));
            let error = here.ready().await.unwrap_err();
            assert_eq!(error.kind(), Kind::Missing);
            assert!(error.to_string().contains(&format!("glyphoxa models get {set}")), "{error}");
        }
    }
}

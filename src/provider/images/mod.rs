//! The services that make pictures, opened from their entries.
//!
//! Entry types: [`ImageEntry`], [`ImageService`]; [`Painters`] opens entries. **Never**: passes on bytes as
//! a service sent them; see [`clean`].

mod answer;
mod clean;
mod gemini;
mod openai;

use std::{sync::Arc, time::Duration};

use self::{gemini::GeminiImages, openai::OpenAiImages};
use super::{
    Error, ImageModel, ServiceInfo,
    pool::Pool,
    remote::{Endpoint, Options, probe},
};

/// Longest wait for the first byte of an answer, within a call's own limit.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(55);

/// Kinds of services that make pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageService {
    /// OpenAI, and servers with its images address.
    #[default]
    OpenAi,
    /// Google's Gemini.
    Gemini,
}

impl ImageService {
    /// The words of the configuration.
    pub const NAMES: &[&str] = &["openai", "gemini"];

    /// The word of the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    /// The service called `name`.
    pub fn named(name: &str) -> Option<Self> {
        [Self::OpenAi, Self::Gemini].into_iter().find(|it| it.name() == name)
    }

    /// The model that is asked where none is named.
    pub const fn model(self) -> &'static str {
        match self {
            Self::OpenAi => "gpt-image-2.6-flare",
            Self::Gemini => "gemini-nano-banana-2.1",
        }
    }
}

/// A service with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageEntry {
    /// Its kind.
    pub service: ImageService,
    /// Settings of the service.
    pub options: Options,
}

impl ImageEntry {
    /// The model, and its host.
    pub fn info(&self) -> ServiceInfo {
        self.options.info()
    }

    /// Looks whether the service answers, without asking for a picture; one line for a report.
    ///
    /// # Errors
    /// It cannot be used; the error includes the fix.
    pub async fn probe(&self) -> Result<String, Error> {
        probe(&self.endpoint()?).await
    }

    fn endpoint(&self) -> Result<Endpoint, Error> {
        match self.service {
            ImageService::OpenAi => Endpoint::new(self.options.clone()),
            ImageService::Gemini => Endpoint::in_manner(self.options.clone(), gemini::MANNER),
        }
    }
}

/// Picture services that are open.
#[derive(Default)]
pub struct Painters(Pool<ImageEntry, Arc<dyn ImageModel>>);

impl Painters {
    /// The service of `entry`.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn open(&self, entry: &ImageEntry) -> Result<Arc<dyn ImageModel>, Error> {
        self.0.get(entry, || {
            let endpoint = Arc::new(entry.endpoint()?);
            Ok(match entry.service {
                ImageService::OpenAi => Arc::new(OpenAiImages(endpoint)) as Arc<dyn ImageModel>,
                ImageService::Gemini => Arc::new(GeminiImages(endpoint)),
            })
        })
    }

    /// Lets go of all but `wanted`.
    pub fn retain(&self, wanted: Option<&ImageEntry>) {
        self.0.retain(|entry| Some(entry) == wanted);
    }
}

#[cfg(test)]
mod tests;

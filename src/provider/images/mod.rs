//! Picture services, opened from their entries.
//!
//! Entry types: [`ImageEntry`], [`ImageService`]; [`Painters`] opens entries. **Never**: passes on
//! bytes as a service sent them; see [`clean`].

mod clean;
mod gemini;
mod openai;

use std::{sync::Arc, time::Duration};

use self::{gemini::GeminiImages, openai::OpenAiImages};
use super::{
    Error, ImageModel, ServiceInfo,
    entries::Pool,
    remote::{Endpoint, Options, probe},
};

/// Longest wait for the first byte, within a call's own limit.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(55);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageService {
    /// OpenAI, and servers with its images address.
    #[default]
    OpenAi,
    Gemini,
}

impl ImageService {
    pub const NAMES: &[&str] = &["openai", "gemini"];

    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::OpenAi, Self::Gemini].into_iter().find(|it| it.name() == name)
    }

    pub const fn model(self) -> &'static str {
        match self {
            Self::OpenAi => "gpt-image-2.6-flare",
            Self::Gemini => "gemini-nano-banana-2.1",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImageEntry {
    pub service: ImageService,
    pub options: Options,
}

impl ImageEntry {
    pub fn info(&self) -> ServiceInfo {
        self.options.info()
    }

    /// Checks that the service answers, without requesting a picture; one line for a report.
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

#[derive(Default)]
pub struct Painters(Pool<ImageEntry, Arc<dyn ImageModel>>);

impl Painters {
    pub fn open(&self, entry: &ImageEntry) -> Result<Arc<dyn ImageModel>, Error> {
        self.0.get(entry, || {
            let endpoint = Arc::new(entry.endpoint()?);
            Ok(match entry.service {
                ImageService::OpenAi => Arc::new(OpenAiImages(endpoint)) as Arc<dyn ImageModel>,
                ImageService::Gemini => Arc::new(GeminiImages(endpoint)),
            })
        })
    }

    pub fn retain(&self, wanted: Option<&ImageEntry>) {
        self.0.retain(|entry| Some(entry) == wanted);
    }
}

#[cfg(test)]
mod tests;

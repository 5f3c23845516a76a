//! Settings of a speech-to-speech service.
//!
//! Entry type: [`Options`].

use std::time::Duration;

use crate::{domain::Secret, provider::ServiceInfo};

/// Longest wait for a connection and the answer to its setup.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(3);
/// Silence after which a session is closed.
pub const IDLE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeechService {
    #[default]
    OpenAi,
    Gemini,
}

impl SpeechService {
    pub const NAMES: &[&str] = &["openai-realtime", "gemini-live"];

    /// The service with this name in files.
    pub fn named(name: &str) -> Option<Self> {
        [Self::OpenAi, Self::Gemini].into_iter().find(|it| it.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-realtime",
            Self::Gemini => "gemini-live",
        }
    }

    /// Age at which a session is replaced: OpenAI closes sessions after 60 minutes, Gemini's
    /// connections last about 10.
    pub const fn max_age(self) -> Duration {
        match self {
            Self::OpenAi => Duration::from_secs(55 * 60),
            Self::Gemini => Duration::from_secs(9 * 60),
        }
    }
}

/// Settings; `config` builds them.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub name: String,
    pub service: SpeechService,
    /// Root of its paths; http or https.
    pub base_url: String,
    /// A stand-in on this machine needs none.
    pub api_key: Option<Secret>,
    pub model: String,
    /// Name in the price list; `None`: free.
    pub priced_as: Option<String>,
    /// Longest wait for a connection and the answer to its setup.
    pub first_byte_timeout: Duration,
    /// Age at which the engine replaces a session.
    pub max_age: Duration,
    /// Silence after which the engine closes a session.
    pub idle: Duration,
}

impl Options {
    /// The service with `name`, or the first of the kind with that name; without a name, the first.
    pub fn of<'a>(services: &'a [Self], name: Option<&str>) -> Option<&'a Self> {
        match name {
            Some(name) => {
                let named = services.iter().find(|it| it.name == name);
                named.or_else(|| services.iter().find(|it| it.service.name() == name))
            }
            None => services.first(),
        }
    }

    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }
}

#[cfg(test)]
impl Options {
    /// For tests, with a key.
    pub fn of_tests(base_url: &str) -> Self {
        Self {
            name: SpeechService::OpenAi.name().to_owned(),
            service: SpeechService::OpenAi,
            base_url: base_url.to_owned(),
            api_key: Some(Secret("sk-very-secret".to_owned())),
            model: "gpt-realtime-2.1".to_owned(),
            priced_as: None,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            max_age: SpeechService::OpenAi.max_age(),
            idle: IDLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_printed_hide_the_key() {
        let options = Options::of_tests("https://api.openai.com/v1");
        assert!(!format!("{options:?}").contains("very"));
        assert_eq!(options.info().to_string(), "gpt-realtime-2.1 at api.openai.com");
    }

    #[test]
    fn every_service_is_found_by_its_name() {
        for name in SpeechService::NAMES {
            assert_eq!(SpeechService::named(name).map(SpeechService::name), Some(*name));
        }
        assert_eq!(SpeechService::named("gemini"), None);
    }
}

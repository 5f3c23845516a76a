//! Settings of a service with a model and voices of an account.
//!
//! Entry type: [`Options`].

use std::time::Duration;

use reqwest::Url;

use super::Limits;
use crate::{domain::Secret, provider::ServiceInfo};

/// Longest wait for a connection, and for the first sound of a sentence.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(4);
/// Longest wait for the next sound of a sentence.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Root of the service's paths (`https://api.elevenlabs.io`).
    pub base_url: String,
    /// A stand-in on this machine needs none.
    pub api_key: Option<Secret>,
    pub model: String,
    /// ISO 639-1 code of the table's language, for NPCs without one.
    pub language: String,
    /// Most open sockets; `None`: the plan's limit.
    pub max_streams: Option<usize>,
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
    /// Name in the price list; `None`: free.
    pub priced_as: Option<String>,
}

impl Options {
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }

    pub const fn limits(&self) -> Limits {
        let Self { max_streams, first_byte_timeout, idle_timeout, .. } = *self;
        Limits { max_streams, first_byte_timeout, idle_timeout }
    }

    /// Address of `path` at the service; `None`: the base URL is not valid.
    pub fn address(&self, path: &[&str]) -> Option<Url> {
        let mut url = Url::parse(&self.base_url).ok()?;
        url.path_segments_mut().ok()?.pop_if_empty().extend(path);
        Some(url)
    }
}

#[cfg(test)]
impl Options {
    pub fn of_tests(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key: Some(Secret("key-very-secret".to_owned())),
            model: model.to_owned(),
            language: "en".to_owned(),
            max_streams: None,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            priced_as: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_base_url() {
        let address = |base: &str| Options::of_tests(base, "m").address(&["tts", "websocket"]);
        for base in ["https://api.cartesia.ai", "https://api.cartesia.ai/"] {
            let url = address(base).unwrap();
            assert_eq!(url.as_str(), "https://api.cartesia.ai/tts/websocket");
        }
        assert_eq!(address("api.cartesia.ai"), None);
    }

    #[test]
    fn key_never_prints() {
        assert!(!format!("{:?}", Options::of_tests("http://127.0.0.1:9", "m")).contains("very"));
    }
}

//! Address, key and model of a Realtime service.
//!
//! Entry type: [`Options`]. **Never**: connects.

use std::time::Duration;

use reqwest::Url;

use crate::{domain::Secret, provider::service::ServiceInfo};

/// The service's name in files and reports.
pub const NAME: &str = "openai-realtime";
/// OpenAI's own address, which requires a key.
pub const BASE_URL: &str = "https://api.openai.com/v1";
/// Longest wait for a connection and the answer to its setup.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(3);
/// Age at which a session is replaced; OpenAI closes sessions after 60 minutes.
pub const MAX_AGE: Duration = Duration::from_secs(55 * 60);
/// Time without talk after which a session is closed.
pub const IDLE: Duration = Duration::from_secs(60);

/// The first generation of models that can call several tools in one answer.
const PARALLEL_SINCE: u32 = 2;
/// A longer number in a model's name is a date ("gpt-realtime-2025-08-28").
const GENERATION_DIGITS: usize = 2;

/// Settings of the service; `config` builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The root of its paths, as [`BASE_URL`] is; http or https.
    pub base_url: String,
    /// The key; a stand-in on this machine needs none.
    pub api_key: Option<Secret>,
    /// The model ("gpt-realtime-2.1").
    pub model: String,
    /// The model's name in the price list; `None`: it is free.
    pub priced_as: Option<String>,
    /// Longest wait for a connection and the answer to its setup.
    pub first_byte_timeout: Duration,
    /// Age at which the engine replaces a session.
    pub max_age: Duration,
    /// Time without talk after which the engine closes a session.
    pub idle: Duration,
}

impl Options {
    /// The service's model, and the host that the sound goes to.
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }

    /// The address of its socket; `None`: `base_url` is no address.
    pub fn address(&self) -> Option<Url> {
        let root = self.base_url.trim_end_matches('/');
        let mut url = Url::parse(&format!("{root}/realtime")).ok()?;
        url.query_pairs_mut().append_pair("model", &self.model);
        Some(url)
    }

    /// Whether the model accepts `parallel_tool_calls`: reasoning models only, "gpt-realtime-2" and
    /// later. Others refuse a setup that has it.
    pub fn takes_parallel_calls(&self) -> bool {
        let Some(version) = self.model.strip_prefix("gpt-realtime-") else { return false };
        let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
        let generation = digits.parse::<u32>();
        digits.len() <= GENERATION_DIGITS && generation.is_ok_and(|number| number >= PARALLEL_SINCE)
    }
}

#[cfg(test)]
impl Options {
    /// Options for tests, with a key, at `base_url`.
    pub fn of_tests(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key: Some(Secret("sk-very-secret".to_owned())),
            model: "gpt-realtime-2.1".to_owned(),
            priced_as: None,
            first_byte_timeout: FIRST_BYTE_TIMEOUT,
            max_age: MAX_AGE,
            idle: IDLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_base_url_names_the_model() {
        let url = |base_url| Options::of_tests(base_url).address().unwrap().to_string();
        let wanted = "https://api.openai.com/v1/realtime?model=gpt-realtime-2.1";
        assert_eq!(url("https://api.openai.com/v1"), wanted);
        assert_eq!(url("https://api.openai.com/v1/"), wanted);
        let odd = Options { model: "a b&c".to_owned(), ..Options::of_tests("http://[::1]:9") };
        assert_eq!(odd.address().unwrap().as_str(), "http://[::1]:9/realtime?model=a+b%26c");
        assert_eq!(Options::of_tests("no address").address(), None);
    }

    #[test]
    fn parallel_calls_need_the_second_generation() {
        let takes = |model: &str| {
            let options = Options::of_tests(BASE_URL);
            Options { model: model.to_owned(), ..options }.takes_parallel_calls()
        };
        for model in ["gpt-realtime-2", "gpt-realtime-2.1", "gpt-realtime-2.1-mini"] {
            assert!(takes(model), "{model}");
        }
        for model in
            ["gpt-realtime", "gpt-realtime-1.5", "gpt-realtime-mini", "gpt-realtime-2025-08-28"]
        {
            assert!(!takes(model), "{model}");
        }
    }

    #[test]
    fn options_printed_hide_the_key() {
        let options = Options::of_tests(BASE_URL);
        assert!(!format!("{options:?}").contains("very"));
        assert_eq!(options.info().to_string(), "gpt-realtime-2.1 at api.openai.com");
    }
}

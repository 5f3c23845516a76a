//! Settings of Deepgram.
//!
//! Entry types: [`Options`], [`Family`].

use std::time::Duration;

use reqwest::Url;

use crate::{domain::Secret, provider::service::ServiceInfo};

pub const NAME: &str = "deepgram";
/// Deepgram's own address, which requires a key.
pub const BASE_URL: &str = "https://api.deepgram.com";
/// Default confidence at which Flux announces an early end; 0.3 to 0.9 is allowed.
pub const EAGER: f32 = 0.5;
pub const FLUX_ENGLISH: &str = "flux-general-en";
/// Longest wait for a connection and its first message.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest silence of the service while it owes an answer.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// Flux's confidence at which a turn ends, unless set otherwise.
const END_OF_TURN: f32 = 0.7;
/// Silence after which Flux always ends a turn, in ms; tables pass on as much.
const END_OF_TURN_TIMEOUT: &str = "1500";

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Root of its paths (`https://api.deepgram.com`).
    pub base_url: String,
    /// A stand-in on this machine needs none.
    pub api_key: Option<Secret>,
    pub model: String,
    /// ISO 639-1 code of the spoken language.
    pub language: String,
    /// Confidence at which Flux announces an early end; `None`: never.
    pub eager: Option<f32>,
    /// Most open sockets; `None`: the plan's limit.
    pub max_streams: Option<usize>,
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
    /// Name in the price list; `None`: free.
    pub priced_as: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `/v1/listen`: words; the table ends utterances.
    Nova,
    /// `/v2/listen`: turns, which Flux ends.
    Flux,
}

impl Options {
    pub fn family(&self) -> Family {
        if self.model.starts_with("flux") { Family::Flux } else { Family::Nova }
    }

    pub fn takes_names(&self) -> bool {
        self.family() == Family::Flux || self.model.starts_with("nova-3")
    }

    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }

    /// Address of a socket that expects `names`; `None`: the base URL is not valid.
    pub fn address(&self, names: &[String]) -> Option<Url> {
        let path = match self.family() {
            Family::Nova => "/v1/listen",
            Family::Flux => "/v2/listen",
        };
        let mut url = Url::parse(&format!("{}{path}", self.base_url.trim_end_matches('/'))).ok()?;
        let mut query = url.query_pairs_mut();
        query.append_pair("model", &self.model);
        query.append_pair("encoding", "linear16").append_pair("sample_rate", "16000");
        match self.family() {
            Family::Nova => {
                query.append_pair("language", &self.language);
                query.append_pair("interim_results", "true").append_pair("punctuate", "true");
                // The table ends utterances, and holds back the silence that the service would
                // need.
                query.append_pair("endpointing", "false");
            }
            Family::Flux => {
                query.append_pair("eot_timeout_ms", END_OF_TURN_TIMEOUT);
                if let Some(eager) = self.eager {
                    query.append_pair("eager_eot_threshold", &eager.to_string());
                    // The confidence of an early end must not exceed that of the end.
                    query.append_pair("eot_threshold", &eager.max(END_OF_TURN).to_string());
                }
                if self.model != FLUX_ENGLISH {
                    query.append_pair("language_hint", &self.language);
                }
            }
        }
        if self.takes_names() {
            query.extend_pairs(names.iter().map(|name| ("keyterm", name)));
        }
        drop(query);
        Some(url)
    }
}

#[cfg(test)]
impl Options {
    pub fn of_tests(base_url: &str, model: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key: Some(Secret("dg-very-secret".to_owned())),
            model: model.to_owned(),
            language: "en".to_owned(),
            eager: Some(EAGER),
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

    fn query(options: &Options) -> String {
        let names = ["Bartok the Barkeep".to_owned(), "Zorvath & Sons".to_owned()];
        let url = options.address(&names).unwrap();
        format!("{}?{}", url.path(), url.query().unwrap())
    }

    #[test]
    fn each_model_is_asked_for_what_it_has() {
        let nova = Options::of_tests("https://api.deepgram.com/", "nova-3");
        assert_eq!(
            query(&nova),
            "/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000&language=en&\
             interim_results=true&punctuate=true&endpointing=false&keyterm=Bartok+the+Barkeep&\
             keyterm=Zorvath+%26+Sons"
        );
        assert!(!query(&Options::of_tests("https://x.example", "nova-2")).contains("keyterm"));
        let flux =
            Options { eager: Some(0.9), ..Options::of_tests("https://x.example", FLUX_ENGLISH) };
        assert_eq!(
            query(&flux),
            "/v2/listen?model=flux-general-en&encoding=linear16&sample_rate=16000&\
             eot_timeout_ms=1500&eager_eot_threshold=0.9&eot_threshold=0.9&\
             keyterm=Bartok+the+Barkeep&keyterm=Zorvath+%26+Sons"
        );
        let multi =
            Options { eager: None, ..Options::of_tests("https://x.example", "flux-general-multi") };
        let query = query(&multi);
        assert!(query.contains("language_hint=en") && !query.contains("_threshold"), "{query}");
    }

    #[test]
    fn key_never_prints() {
        assert!(!format!("{:?}", Options::of_tests(BASE_URL, "nova-3")).contains("very"));
    }
}

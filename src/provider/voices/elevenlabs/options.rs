//! Settings of ElevenLabs.
//!
//! Entry type: [`Options`].

use std::time::Duration;

use reqwest::Url;

use crate::{domain::Secret, provider::ServiceInfo};

pub const NAME: &str = "elevenlabs";
pub const BASE_URL: &str = "https://api.elevenlabs.io";
pub const MODEL: &str = "eleven_flash_v2_5";
/// Longest wait for a connection, and for the first sound of a sentence.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(4);
/// Longest wait for the next sound of a sentence.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// Seconds after which the service closes a turn without text; 180 is the most. A model may think
/// or call tools meanwhile.
const INACTIVITY: &str = "180";

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Root of its paths (`https://api.elevenlabs.io`).
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
    /// True if `model` speaks at the address that is used here: v3 and v4 have another one.
    pub fn can_speak(model: &str) -> bool {
        !["eleven_v3", "eleven_v4"].iter().any(|it| model.starts_with(it))
    }

    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }

    /// Address of `path` at the service; `None`: the base URL is not valid.
    pub fn address(&self, path: &[&str]) -> Option<Url> {
        let mut url = Url::parse(&self.base_url).ok()?;
        url.path_segments_mut().ok()?.pop_if_empty().extend(path);
        Some(url)
    }

    /// Address of a socket that speaks as `voice`; `None`: the base URL is not valid.
    pub fn socket(&self, voice: &str, language: &str) -> Option<Url> {
        let mut url = self.address(&["v1", "text-to-speech", voice, "multi-stream-input"])?;
        let mut query = url.query_pairs_mut();
        query.append_pair("model_id", &self.model).append_pair("output_format", "pcm_24000");
        query.append_pair("inactivity_timeout", INACTIVITY).append_pair("sync_alignment", "true");
        // Other models refuse it.
        let takes_language = ["flash_v2_5", "turbo_v2_5"].iter().any(|it| self.model.contains(it));
        let language = if language.is_empty() { &self.language } else { language };
        if takes_language && !language.is_empty() {
            query.append_pair("language_code", language);
        }
        drop(query);
        Some(url)
    }
}

#[cfg(test)]
impl Options {
    pub fn of_tests(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            api_key: Some(Secret("xi-very-secret".to_owned())),
            model: MODEL.to_owned(),
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
    fn model_decides_about_the_language() {
        let flash = Options::of_tests("https://api.elevenlabs.io/");
        let begins =
            "https://api.elevenlabs.io/v1/text-to-speech/a%2Fb/multi-stream-input?model_id=";
        let rest = "&output_format=pcm_24000&inactivity_timeout=180&sync_alignment=true";
        let socket =
            |options: &Options, language| options.socket("a/b", language).unwrap().to_string();
        assert_eq!(
            socket(&flash, "de"),
            format!("{begins}eleven_flash_v2_5{rest}&language_code=de")
        );
        assert!(socket(&flash, "").ends_with("&language_code=en"));
        let other = Options { model: "eleven_multilingual_v2".to_owned(), ..flash };
        assert_eq!(socket(&other, "de"), format!("{begins}eleven_multilingual_v2{rest}"));
        assert!(Options::can_speak(MODEL) && !Options::can_speak("eleven_v3_conversational"));
    }

    #[test]
    fn key_never_prints() {
        assert!(!format!("{:?}", Options::of_tests(BASE_URL)).contains("very"));
    }
}

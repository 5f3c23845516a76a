//! The service's name, and its addresses.

use reqwest::Url;

use crate::provider::voices::socket::Options;

pub const NAME: &str = "elevenlabs";
pub const BASE_URL: &str = "https://api.elevenlabs.io";
pub const MODEL: &str = "eleven_flash_v2_5";

/// Seconds after which the service closes a turn without text; 180 is the most. A model may think
/// or call tools meanwhile.
const INACTIVITY: &str = "180";

/// True if `model` speaks at the address that is used here: v3 and v4 have another one.
pub fn can_speak(model: &str) -> bool {
    !["eleven_v3", "eleven_v4"].iter().any(|it| model.starts_with(it))
}

/// Address of a socket that speaks as `voice`; `None`: the base URL is not valid.
pub fn socket(options: &Options, voice: &str, language: &str) -> Option<Url> {
    let mut url = options.address(&["v1", "text-to-speech", voice, "multi-stream-input"])?;
    let mut query = url.query_pairs_mut();
    query.append_pair("model_id", &options.model).append_pair("output_format", "pcm_24000");
    query.append_pair("inactivity_timeout", INACTIVITY).append_pair("sync_alignment", "true");
    // Other models refuse it.
    let takes_language = ["flash_v2_5", "turbo_v2_5"].iter().any(|it| options.model.contains(it));
    let language = if language.is_empty() { &options.language } else { language };
    if takes_language && !language.is_empty() {
        query.append_pair("language_code", language);
    }
    drop(query);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_decides_about_the_language() {
        let flash = Options::of_tests("https://api.elevenlabs.io/", MODEL);
        let begins =
            "https://api.elevenlabs.io/v1/text-to-speech/a%2Fb/multi-stream-input?model_id=";
        let rest = "&output_format=pcm_24000&inactivity_timeout=180&sync_alignment=true";
        let address =
            |options: &Options, language| socket(options, "a/b", language).unwrap().to_string();
        assert_eq!(
            address(&flash, "de"),
            format!("{begins}eleven_flash_v2_5{rest}&language_code=de")
        );
        assert!(address(&flash, "").ends_with("&language_code=en"));
        let other = Options { model: "eleven_multilingual_v2".to_owned(), ..flash };
        assert_eq!(address(&other, "de"), format!("{begins}eleven_multilingual_v2{rest}"));
        assert!(can_speak(MODEL) && !can_speak("eleven_v3_conversational"));
    }
}

//! Address of Gemini Live.
//!
//! Entry function: [`address`].

use reqwest::Url;

use crate::provider::speech_to_speech::Options;

/// Google's own address, which requires a key.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com";
const PATH: &str = "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/// The socket's address; `None`: `base_url` is invalid.
pub fn address(options: &Options) -> Option<Url> {
    let root = options.base_url.trim_end_matches('/');
    Url::parse(&format!("{root}/{PATH}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_base_url_names_no_key() {
        let url = |base_url| address(&Options::of_tests(base_url)).unwrap().to_string();
        let wanted = format!("https://generativelanguage.googleapis.com/{PATH}");
        assert_eq!(url(BASE_URL), wanted);
        assert_eq!(url(&format!("{BASE_URL}/")), wanted);
        assert_eq!(address(&Options::of_tests("no address")), None);
    }
}

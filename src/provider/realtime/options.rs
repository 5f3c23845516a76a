//! Address of a Realtime service, and features of its models.
//!
//! Entry functions: [`address`], [`takes_parallel_calls`].

use reqwest::Url;

use crate::provider::speech_to_speech::Options;

/// OpenAI's own address, which requires a key.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// First generation of models with several calls per answer.
const PARALLEL_SINCE: u32 = 2;
/// A longer number in a model's name is a date ("gpt-realtime-2025-08-28").
const GENERATION_DIGITS: usize = 2;

/// The socket's address; `None`: `base_url` is invalid.
pub fn address(options: &Options) -> Option<Url> {
    let root = options.base_url.trim_end_matches('/');
    let mut url = Url::parse(&format!("{root}/realtime")).ok()?;
    url.query_pairs_mut().append_pair("model", &options.model);
    Some(url)
}

/// True if the model accepts `parallel_tool_calls`: reasoning models only, "gpt-realtime-2" and
/// later. Others refuse a setup that has it.
pub fn takes_parallel_calls(model: &str) -> bool {
    let Some(version) = model.strip_prefix("gpt-realtime-") else { return false };
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    let generation = digits.parse::<u32>();
    digits.len() <= GENERATION_DIGITS && generation.is_ok_and(|number| number >= PARALLEL_SINCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_base_url_names_the_model() {
        let url = |base_url| address(&Options::of_tests(base_url)).unwrap().to_string();
        let wanted = "https://api.openai.com/v1/realtime?model=gpt-realtime-2.1";
        assert_eq!(url("https://api.openai.com/v1"), wanted);
        assert_eq!(url("https://api.openai.com/v1/"), wanted);
        let odd = Options { model: "a b&c".to_owned(), ..Options::of_tests("http://[::1]:9") };
        assert_eq!(address(&odd).unwrap().as_str(), "http://[::1]:9/realtime?model=a+b%26c");
        assert_eq!(address(&Options::of_tests("no address")), None);
    }

    #[test]
    fn parallel_calls_need_the_second_generation() {
        for model in ["gpt-realtime-2", "gpt-realtime-2.1", "gpt-realtime-2.1-mini"] {
            assert!(takes_parallel_calls(model), "{model}");
        }
        for model in
            ["gpt-realtime", "gpt-realtime-1.5", "gpt-realtime-mini", "gpt-realtime-2025-08-28"]
        {
            assert!(!takes_parallel_calls(model), "{model}");
        }
    }
}

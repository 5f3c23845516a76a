//! Brave Search.
//!
//! Entry type: [`Brave`].

use std::time::Duration;

use reqwest::{
    RequestBuilder,
    header::{ACCEPT, HeaderMap},
};
use serde_json::Value;

use super::{
    client::Wire,
    results::results,
    site::{Answer, Site},
};
use crate::provider::{
    Error, Kind,
    contracts::{RESULTS_MAX, WebResult},
};

const PATH: &str = "/res/v1/web/search";
/// A longer window of requests belongs to the plan.
const PLAN: Duration = Duration::from_secs(60);

/// Languages with the same codes at Brave.
const LANGUAGES: &[&str] = &[
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi", "fr", "gl", "gu",
    "he", "hi", "hr", "hu", "is", "it", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa",
    "pl", "ro", "ru", "sk", "sl", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi",
];

pub struct Brave;

impl Wire for Brave {
    const WORDS: usize = 50;

    fn request(site: &Site, query: &str) -> Result<RequestBuilder, Error> {
        let count = RESULTS_MAX.to_string();
        let mut query = vec![
            ("q", query),
            ("count", count.as_str()),
            ("safesearch", site.options.safe.name()),
            ("text_decorations", "false"),
            ("result_filter", "web"),
        ];
        query.extend(search_lang(&site.options.language).map(|code| ("search_lang", code)));
        let request = site.get(PATH, &query)?.header(ACCEPT, "application/json");
        Ok(request.header("x-subscription-token", site.key("")?))
    }

    fn read(_: &Site, answer: &Value) -> Result<Vec<WebResult>, Error> {
        // Absent if nothing was found or everything was filtered.
        Ok(results(answer.pointer("/web/results"), "description"))
    }

    fn refusal(site: &Site, answer: &Answer) -> Error {
        let code = answer.json.as_ref().and_then(|json| json.pointer("/error/code"));
        match answer.status {
            422 if code.and_then(Value::as_str) == Some("SUBSCRIPTION_TOKEN_INVALID") => {
                let what = "the key was refused, with status 422";
                site.error(Kind::Unauthorized, what, "check api_key")
            }
            429 => {
                let wait = used_up(&answer.headers);
                let (what, way_out) = match wait {
                    Some(wait) if wait > PLAN => {
                        ("the plan's requests are used up", "raise the plan, or wait for its reset")
                    }
                    _ => ("too many requests a second", "try again in a moment"),
                };
                let what = format!("{what}, with status 429");
                site.error(Kind::RateLimited { retry_after: wait }, &what, way_out)
            }
            _ => site.refusal(answer),
        }
    }
}

fn search_lang(language: &str) -> Option<&str> {
    match language {
        "ja" => Some("jp"),
        "no" => Some("nb"),
        "pt" => Some("pt-br"),
        "zh" => Some("zh-hans"),
        code => LANGUAGES.contains(&code).then_some(code),
    }
}

/// Time until the longest exhausted window is reset; Brave has one of a second and one of a month.
fn used_up(headers: &HeaderMap) -> Option<Duration> {
    let numbers = |name: &str| -> Vec<u64> {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(',').filter_map(|number| number.trim().parse().ok()).collect()
    };
    let (left, reset) = (numbers("x-ratelimit-remaining"), numbers("x-ratelimit-reset"));
    let empty = left.iter().zip(&reset).filter(|(left, _)| **left == 0);
    empty.map(|(_, reset)| Duration::from_secs(*reset)).max()
}

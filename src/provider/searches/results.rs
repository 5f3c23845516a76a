//! Queries as services take them, and results as models read them.
//!
//! Entry functions: [`results`], [`bounded`].

use std::collections::HashSet;

use reqwest::Url;
use serde_json::Value;

use crate::{
    domain::visible,
    markup::plain_text,
    provider::{
        contracts::{RESULTS_MAX, WebResult},
        pages::URL_MAX,
    },
};

/// Longest query, in characters.
const QUERY_MAX: usize = 400;
/// Longest title, in characters.
const TITLE_MAX: usize = 100;
/// Longest excerpt, in characters: with the title a fifth of 2,000.
const TEXT_MAX: usize = 300;
/// Most results that are examined.
const SEEN_MAX: usize = 50;

/// `query` on one line, at most 400 characters and `words` words.
pub fn bounded(query: &str, words: usize) -> String {
    let query = visible(query);
    let line = query.split_whitespace().take(words).collect::<Vec<_>>().join(" ");
    line.chars().take(QUERY_MAX).collect::<String>().trim_end().to_owned()
}

/// The first of `listed` with a web address, each address once; `text` names the member with the
/// excerpt.
pub fn results(listed: Option<&Value>, text: &str) -> Vec<WebResult> {
    let listed = listed.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut known = HashSet::new();
    let found = listed.iter().take(SEEN_MAX).filter_map(|result| found(result, text));
    found.filter(|found| known.insert(found.url.clone())).take(RESULTS_MAX).collect()
}

fn found(result: &Value, text: &str) -> Option<WebResult> {
    let member = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    let url = Url::parse(member("url")).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_plain = url.username().is_empty() && url.password().is_none();
    let url = url.to_string();
    (is_web && is_plain && url.len() <= URL_MAX).then(|| WebResult {
        title: plain_text(member("title"), TITLE_MAX),
        text: plain_text(member(text), TEXT_MAX),
        url,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn query_is_cut_to_its_bounds() {
        assert_eq!(bounded(" red\n\u{202e}dragons  of  old ", 3), "red dragons of");
        assert_eq!(bounded(&"é".repeat(900), 50).chars().count(), QUERY_MAX);
        assert_eq!(bounded(&"a ".repeat(900), 50).split(' ').count(), 50);
    }

    #[test]
    fn results_are_clean_and_bounded() {
        let one = json!({"title": "<b>Red</b> &amp; gold\u{200b}", "url": "https://a.org/x y",
            "text": format!("<strong>A</strong> dragon.<br>{}", "x".repeat(900))});
        let found = results(
            Some(&json!([one, one, {"url": "javascript:alert(1)"},
            {"url": "https://u:p@a.org/"}, {"url": "http://a@127.0.0.1/"}, {"url": null}, 7])),
            "text",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].title.as_str(), found[0].url.as_str()),
            ("Red & gold", "https://a.org/x%20y")
        );
        assert!(found[0].text.starts_with("A dragon. x"));
        assert_eq!(found[0].text.chars().count(), TEXT_MAX);
        let many: Vec<Value> =
            (0..9).map(|n| json!({"url": format!("https://a.org/{n}")})).collect();
        assert_eq!(results(Some(&many.into()), "text").len(), RESULTS_MAX);
        assert_eq!(results(None, "text"), []);
    }
}

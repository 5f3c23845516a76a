//! SearXNG, run by the operator.
//!
//! Entry type: [`Searxng`]. Sends a browser's headers, because SearXNG's limiter refuses other
//! clients.

use std::time::Duration;

use reqwest::{
    RequestBuilder,
    header::{ACCEPT, ACCEPT_LANGUAGE},
};
use serde_json::Value;

use super::{
    client::Wire,
    options::Safe,
    results::results,
    site::{Answer, Site},
};
use crate::{
    domain::one_line,
    provider::{Error, Kind, contracts::WebResult, http_client::accept_language},
};

/// How long a limiter or an engine blocks all clients: too long to wait.
const BLOCKED: Duration = Duration::from_secs(3_600);
/// Most engines named in an error.
const ENGINES_SHOWN: usize = 6;

pub struct Searxng;

impl Wire for Searxng {
    const WORDS: usize = usize::MAX;

    fn request(site: &Site, query: &str) -> Result<RequestBuilder, Error> {
        let safe = match site.options.safe {
            Safe::Off => "0",
            Safe::Moderate => "1",
            Safe::Strict => "2",
        };
        let language = site.options.language.as_str();
        let query =
            [("q", query), ("format", "json"), ("safesearch", safe), ("language", language)];
        let request = site.get("/search", &query)?;
        Ok(request
            .header(ACCEPT, "application/json, text/html;q=0.9")
            .header(ACCEPT_LANGUAGE, accept_language(language)))
    }

    fn read(site: &Site, answer: &Value) -> Result<Vec<WebResult>, Error> {
        if let Some(Value::String(said)) = answer.get("error") {
            let what = format!("its search failed: \"{}\"", plain(said));
            return Err(site.error(Kind::Unavailable, &what, "look at the server's log"));
        }
        let found = results(answer.get("results"), "content");
        let silent = unresponsive(answer);
        if found.is_empty() && !silent.is_empty() {
            let what = format!("its engines do not answer: {}", silent.join(", "));
            let way_out = "wait, or enable other engines in its settings.yml";
            return Err(site.error(
                Kind::RateLimited { retry_after: Some(BLOCKED) },
                &what,
                way_out,
            ));
        }
        Ok(found)
    }

    fn refusal(site: &Site, answer: &Answer) -> Error {
        match answer.status {
            403 => {
                let what = "it does not answer in JSON, with status 403";
                let way_out = "add json to search.formats in its settings.yml";
                site.error(Kind::InvalidRequest, what, way_out)
            }
            429 => {
                let what = "its limiter refuses requests, with status 429";
                let way_out = "set server.limiter: false in its settings.yml, or add this machine \
                               to botdetection.ip_lists.pass_ip";
                site.error(Kind::RateLimited { retry_after: Some(BLOCKED) }, what, way_out)
            }
            _ => site.refusal(answer),
        }
    }
}

/// Engines that did not answer, with their reasons.
fn unresponsive(answer: &Value) -> Vec<String> {
    let listed = answer.get("unresponsive_engines").and_then(Value::as_array);
    let engines = listed.into_iter().flatten().take(ENGINES_SHOWN).filter_map(|engine| {
        let name = plain(engine.get(0)?.as_str()?);
        let reason = engine.get(1).and_then(Value::as_str).map(plain).unwrap_or_default();
        Some(if reason.is_empty() { name } else { format!("{name} ({reason})") })
    });
    engines.collect()
}

/// A few words of the instance, on one line.
fn plain(text: &str) -> String {
    one_line(text, 60).replace('"', "'").trim().to_owned()
}

//! Tavily.
//!
//! Entry type: [`Tavily`].

use reqwest::{
    RequestBuilder,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use serde_json::{Value, json};

use super::{
    client::Wire,
    results::results,
    site::{Answer, Site},
};
use crate::provider::{
    Error, Kind,
    contracts::{RESULTS_MAX, WebResult},
};

pub struct Tavily;

impl Wire for Tavily {
    const WORDS: usize = usize::MAX;

    fn request(site: &Site, query: &str) -> Result<RequestBuilder, Error> {
        let body = json!({
            "query": query,
            "search_depth": "basic",
            "topic": "general",
            "max_results": RESULTS_MAX,
            "include_answer": false,
            "include_raw_content": false,
            "include_images": false,
        });
        let request = site.post("/search")?;
        Ok(request
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, site.key("Bearer ")?)
            .body(body.to_string()))
    }

    fn read(_: &Site, answer: &Value) -> Result<Vec<WebResult>, Error> {
        Ok(results(answer.get("results"), "content"))
    }

    fn refusal(site: &Site, answer: &Answer) -> Error {
        let (what, way_out) = match answer.status {
            432 => ("the plan's credits are used up", "raise the plan, or wait for its reset"),
            433 => ("the pay-as-you-go limit is reached", "raise the limit at Tavily"),
            _ => return site.refusal(answer),
        };
        let (status, said) = (answer.status, site.said(answer));
        let what = format!("{what}, with status {status}{said}");
        // Out of credit: retrying does not help.
        site.error(Kind::Unauthorized, &what, way_out)
    }
}

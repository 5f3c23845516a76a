//! `web-search`: searches the web and reads found pages; both are outside words. **Never**: reads a
//! page that no search of its session returned and the operator does not allow.

mod calls;
mod seen;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::json;

use self::calls::{FetchPage, Search};
use super::describe::{Millis, declared, input};
use crate::{
    domain::Tier,
    tools::{Declared, Definition, SideEffects},
};

pub use calls::WebAccess;
pub use seen::SeenAddresses;

pub fn tools(access: WebAccess) -> Vec<Definition> {
    // Neither read-only nor idempotent: a request costs money, so it runs for final transcripts
    // only, and only its client, which pays, repeats it.
    let declared = Declared {
        effects: Some(SideEffects::None),
        open_world: Some(true),
        follow_up: Some(true),
        ..declared("web", Millis { estimated: 2_000, max: 10_000 }, Tier::Deep)
    };
    let search = Definition {
        name: "search".to_owned(),
        description: "Searches the web. Returns up to five numbered results with title, address \
                      and excerpt; fetch_page reads one of them whole. Name the source of what \
                      you take from it."
            .to_owned(),
        input: input(
            json!({"query": {
                "type": "string",
                "description": "a few neutral words, without names of the people at the table",
            }}),
            &["query"],
        ),
        output: None,
        declared: declared.clone(),
        handler: Arc::new(Search(access.clone())),
    };
    let fetch_page = Definition {
        name: "fetch_page".to_owned(),
        description: "Reads the text of a web page that a search of this session returned. Name \
                      the page as the source of what you take from it."
            .to_owned(),
        input: input(
            json!({"url": {"type": "string", "description": "its address, as the search returned it"}}),
            &["url"],
        ),
        output: None,
        declared,
        handler: Arc::new(FetchPage(access)),
    };
    vec![search, fetch_page]
}

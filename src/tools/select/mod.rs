//! Selection: narrows the list offered to a model when an NPC may use more tools than it should
//! read.
//!
//! In: the NPC's visible tools at the turn's tier, the utterance, categories of recent turns, and
//! names found by `discover_tools`. Up to `top_k` tools (8 with an embedder, else 40) stay whole.
//! Otherwise the core list and found tools stay, and the best others fill the free places: by
//! cosine to the utterance (0.7 or more, +0.1 for a recent category), else by BM25 over word stems
//! (+0.3). The utterance's vector may take 150 ms; if it is late, missing or near no tool, words
//! decide, with up to 40 places. Out: a list in catalog order, so that a provider's prompt cache
//! holds over a turn's rounds, and the tool that finds the rest.

mod dense;
mod lexical;
mod narrow;
mod selector;
mod words;

#[cfg(test)]
mod tests;

pub(super) use lexical::Lexical;
pub(super) use selector::Selecting;
pub use selector::{Query, SelectionOptions};
pub(super) use words::words_of;

use std::sync::Arc;

use crate::tools::CallRecord;

pub const DISCOVER: &str = "tools.discover_tools";

/// Names of the tools found by `record`; empty for other calls.
pub fn found_in(record: &CallRecord) -> Vec<Arc<str>> {
    let structured = match &record.result {
        Ok(output) if *record.tool == *DISCOVER => output.structured.as_ref(),
        _ => None,
    };
    let tools = structured.and_then(|it| it.get("tools")).and_then(serde_json::Value::as_array);
    let names = tools.into_iter().flatten().filter_map(|tool| tool.get("name")?.as_str());
    names.map(Arc::from).collect()
}

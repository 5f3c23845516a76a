//! `tools.selection`: the tools that a model sees.

use std::collections::BTreeMap;

use super::{keys, providers, reading::Notes, whitelist};
use crate::{logic::budget::Price, provider::EmbedderEntry, tools::SelectionOptions, yaml::Fields};

const PATH: &str = "tools.selection.embedder";

/// Context for reading the settings.
pub struct Surroundings<'a> {
    /// Identities of all tools.
    pub tools: &'a [&'a str],
    pub prices: &'a BTreeMap<String, Price>,
}

/// Reads the settings under `tools`, and the embedder for them.
pub fn selection(
    tools: Option<&Fields>,
    around: &Surroundings,
    notes: &mut Notes,
) -> (SelectionOptions, Option<EmbedderEntry>) {
    let mut options = SelectionOptions::default();
    let Some(fields) = tools.and_then(|tools| tools.map("selection", &keys::app::SELECTION)) else {
        return (options, None);
    };
    options.top_k = fields.whole("top_k");
    options.core = whitelist::resolve_all(fields.items("core"), around.tools, notes);
    #[expect(clippy::cast_possible_truncation, reason = "bounded to 0 to 1 by its key")]
    let threshold = fields.number("threshold").map(|number| number as f32);
    let described = fields.map("embedder", &keys::providers::EMBEDDER);
    let embedder = described.and_then(|described| embedder(&described, around, notes));
    if threshold.is_some() && described.is_none() {
        let message = "'tools.selection.threshold' has no effect without an embedder";
        notes.problems.add(fields.place("threshold"), message, "remove it, or set embedder");
    }
    options.threshold = threshold.unwrap_or(options.threshold);
    (options, embedder)
}

/// `None`: no embedder, or one that is no longer supported.
fn embedder(fields: &Fields, around: &Surroundings, notes: &mut Notes) -> Option<EmbedderEntry> {
    if fields.text("name")? == keys::providers::MINILM {
        let message = "embedder 'minilm' is not supported by this version";
        let way_out = "use 'name: openai' with the base_url of a local server, or 'embedder: none'";
        notes.problems.add(fields.place("name"), message, way_out);
        return None;
    }
    Some(EmbedderEntry(providers::embedder(fields, PATH, around.prices, notes)))
}

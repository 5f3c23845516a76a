//! `tools.selection`: which tools a model is shown.

use std::{collections::BTreeMap, path::Path};

use super::{
    keys,
    providers::{self, Entry},
    reading::Notes,
    whitelist,
};
use crate::{
    logic::budget::Price,
    provider::{EmbedderEntry, EmbedderService},
    tools::SelectionOptions,
    yaml::{Fields, quoted},
};

/// Where the settings of an embedder stand.
const PATH: &str = "tools.selection.embedder";

/// What the settings are read against.
pub struct Surroundings<'a> {
    /// What paths are relative to.
    pub folder: &'a Path,
    /// Identities of the tools there are.
    pub tools: &'a [&'a str],
    /// What models cost, by name.
    pub prices: &'a BTreeMap<String, Price>,
}

/// Reads the settings under `tools` of a checked file, and what compares meanings for them.
pub fn selection(
    tools: Option<&Fields>,
    around: &Surroundings,
    notes: &mut Notes,
) -> (SelectionOptions, Option<EmbedderEntry>) {
    let mut options = SelectionOptions::default();
    let Some(fields) = tools.and_then(|tools| tools.map("selection", &keys::app::SELECTION)) else {
        return (options, None);
    };
    if let Some(top_k) = fields.whole("top_k") {
        options.top_k = top_k;
    }
    options.core = whitelist::resolve_all(fields.items("core"), around.tools, &mut notes.problems);
    #[expect(clippy::cast_possible_truncation, reason = "bounded to 0 to 1 by its key")]
    let threshold = fields.number("threshold").map(|number| number as f32);
    let described = fields.map("embedder", &keys::providers::EMBEDDER);
    let embedder = described.and_then(|described| embedder(&described, around, notes));
    if threshold.is_some() && described.is_none() {
        let message = "'tools.selection.threshold' has no effect without an embedder";
        notes.problems.add(fields.place("threshold"), message, "remove it, or set embedder");
    }
    let usual = embedder.as_ref().and_then(EmbedderEntry::threshold).unwrap_or(options.threshold);
    options.threshold = threshold.unwrap_or(usual);
    (options, embedder)
}

/// The embedder in `fields`; `None` if it is not said which.
fn embedder(fields: &Fields, around: &Surroundings, notes: &mut Notes) -> Option<EmbedderEntry> {
    let service = fields.text("name").and_then(EmbedderService::named)?;
    let entry = Entry { path: PATH, service: service.name() };
    if !service.is_built_in() {
        let message = format!("'{}' is not part of this build", service.name());
        let way_out = format!("build with `--features {}`, or use name: openai", service.name());
        notes.problems.add(fields.place("name"), message, way_out);
    }
    Some(match service {
        EmbedderService::OpenAi => {
            providers::refuse(fields, entry, ["folder"].into_iter(), notes);
            let options = providers::embedder(fields, PATH, around.prices, notes);
            EmbedderEntry::OpenAi(options)
        }
        EmbedderService::MiniLm => {
            let others = keys::providers::EMBEDDER.keys.iter().map(|key| key.name);
            let others = others.filter(|key| !matches!(*key, "name" | "folder"));
            providers::refuse(fields, entry, others, notes);
            let model = fields.text("folder").map(|model| around.folder.join(model));
            if model.is_none() && !fields.is_broken("folder") {
                let message = format!("missing key {} of {}", quoted("folder"), quoted(PATH));
                let way_out = "folder: where config.json, tokenizer.json and model.safetensors lie";
                notes.problems.add(fields.at(), message, way_out);
            }
            EmbedderEntry::MiniLm(model.unwrap_or_default())
        }
    })
}

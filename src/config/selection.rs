//! `tools.selection`: which tools a model is shown.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{keys, providers, reading::Notes, whitelist};
use crate::{
    logic::budget::Price,
    provider::openai::Options,
    tools::SelectionOptions,
    yaml::{Fields, quoted},
};

/// Where the settings of an embedder stand.
const NAME: &str = "tools.selection.embedder";
/// Least likeness by MiniLM unless the file says otherwise: a spoken line and the tool that fits it
/// mostly have cosines from 0.27 on, others stay under 0.2.
const MINILM_THRESHOLD: f32 = 0.25;

/// What compares the meanings of utterances and tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum EmbedderChoice {
    /// Nothing; words in common decide.
    #[default]
    None,
    /// An OpenAI-compatible service.
    OpenAi(Options),
    /// The model in this folder, on this machine.
    MiniLm(PathBuf),
}

/// Reads the settings of a checked file in `folder`; `known` are the identities of the tools
/// there are.
pub fn selection(
    tools: Option<&Fields>,
    (folder, known): (&Path, &[&str]),
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) -> (SelectionOptions, EmbedderChoice) {
    let mut options = SelectionOptions::default();
    let Some(fields) = tools.and_then(|tools| tools.map("selection", &keys::app::SELECTION)) else {
        return (options, EmbedderChoice::None);
    };
    if let Some(top_k) = fields.whole("top_k") {
        options.top_k = top_k;
    }
    options.core = whitelist::resolve_all(fields.items("core"), known, &mut notes.problems);
    #[expect(clippy::cast_possible_truncation, reason = "bounded to 0 to 1 by its key")]
    let threshold = fields.number("threshold").map(|number| number as f32);
    let embedder = match fields.map("embedder", &keys::app::EMBEDDER) {
        Some(embedder) => choice(&embedder, folder, prices, notes),
        None => EmbedderChoice::None,
    };
    if threshold.is_some() && fields.map("embedder", &keys::app::EMBEDDER).is_none() {
        let message = "'tools.selection.threshold' has no effect without an embedder";
        notes.problems.add(fields.place("threshold"), message, "remove it, or set embedder");
    }
    options.threshold = threshold.unwrap_or(match embedder {
        EmbedderChoice::MiniLm(_) => MINILM_THRESHOLD,
        EmbedderChoice::None | EmbedderChoice::OpenAi(_) => options.threshold,
    });
    (options, embedder)
}

fn choice(
    fields: &Fields,
    folder: &Path,
    prices: &BTreeMap<String, Price>,
    notes: &mut Notes,
) -> EmbedderChoice {
    match fields.text("name") {
        Some("openai") => {
            providers::refuse(fields, (NAME, "openai"), ["folder"].into_iter(), notes);
            EmbedderChoice::OpenAi(providers::embedder(fields, NAME, prices, notes))
        }
        Some("minilm") => {
            let others = keys::app::EMBEDDER.keys.iter().map(|key| key.name);
            let others = others.filter(|key| !matches!(*key, "name" | "folder"));
            providers::refuse(fields, (NAME, "minilm"), others, notes);
            if !cfg!(feature = "minilm") {
                let message = "'minilm' is not part of this build";
                let way_out = "build with `--features minilm`, or use name: openai";
                notes.problems.add(fields.place("name"), message, way_out);
            }
            let model = fields.text("folder").map(|model| folder.join(model));
            if model.is_none() && !fields.is_broken("folder") {
                let message = format!("missing key {} of {}", quoted("folder"), quoted(NAME));
                let way_out = "folder: where config.json, tokenizer.json and model.safetensors lie";
                notes.problems.add(fields.at(), message, way_out);
            }
            EmbedderChoice::MiniLm(model.unwrap_or_default())
        }
        _ => EmbedderChoice::None,
    }
}

//! The parts of `tokenizer.json` (format of Hugging Face's tokenizers) and of CTranslate2's
//! `config.json` that are read.

use std::collections::HashMap;

use serde::Deserialize;

use crate::error::LoadError;

#[derive(Deserialize)]
pub(super) struct TokenizerFile {
    pub(super) added_tokens: Vec<Added>,
    pub(super) model: Pieces,
}

#[derive(Deserialize)]
pub(super) struct Added {
    pub(super) id: u32,
    pub(super) content: String,
}

#[derive(Deserialize)]
pub(super) struct Pieces {
    pub(super) vocab: HashMap<String, u32>,
    pub(super) merges: Vec<Merge>,
}

/// "a b" in older files, ["a", "b"] in newer ones.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Merge {
    Line(String),
    Pair(String, String),
}

impl Merge {
    pub(super) fn pair(&self) -> Option<(&str, &str)> {
        match self {
            Self::Line(line) => line.split_once(' '),
            Self::Pair(left, right) => Some((left, right)),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct ConfigFile {
    /// Tokens other than speech: brackets, notes, marks of speakers.
    #[serde(default)]
    pub(super) suppress_ids: Vec<u32>,
    /// Tokens that cannot begin a text.
    #[serde(default)]
    pub(super) suppress_ids_begin: Vec<u32>,
    /// Like the flag in Hugging Face's `generation_config.json`; CTranslate2 goes by the size of
    /// the vocabulary.
    #[serde(default)]
    pub(super) is_multilingual: Option<bool>,
}

pub(super) fn tokenizer(text: &[u8]) -> Result<TokenizerFile, LoadError> {
    parse("tokenizer.json", text)
}

pub(super) fn config(text: &[u8]) -> Result<ConfigFile, LoadError> {
    parse("config.json", text)
}

fn parse<'a, T: Deserialize<'a>>(file: &'static str, text: &'a [u8]) -> Result<T, LoadError> {
    serde_json::from_slice(text).map_err(|source| LoadError::Json { file, source })
}

//! Errors of loading and of transcribing.

use std::io;
use std::path::PathBuf;

use crate::work::Cancelled;

/// Error while loading a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file of the model's folder is absent or cannot be read.
    #[error(
        "cannot read {path:?}: {source}; a model is a folder with model.bin, tokenizer.json and config.json"
    )]
    File {
        /// The file that was tried.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// A file is larger than any Whisper model's.
    #[error(
        "{path:?} has more than {most} bytes, which no Whisper model needs; name the right folder"
    )]
    Large {
        /// The file that was tried.
        path: PathBuf,
        /// Size limit of such a file, in bytes.
        most: u64,
    },
    /// Reading the weights failed midway.
    #[error("cannot read the weights: {0}; try again, or fetch the model again")]
    Read(#[from] io::Error),
    /// The weights are not in the format this crate reads.
    #[error(
        "cannot read weights of format version {found}, only CTranslate2's binary version 6; convert the model with ct2-transformers-converter"
    )]
    Version {
        /// The first four bytes.
        found: u32,
    },
    /// The weights belong to another kind of model.
    #[error("the weights are a {found:?}, not a WhisperSpec; name a Whisper model")]
    Kind {
        /// Name of the kind in the file, shortened.
        found: String,
    },
    /// The file ends too early.
    #[error(
        "the weights are cut short: {what} at byte {at} needs {needs} bytes, {left} are left; fetch the model again"
    )]
    CutShort {
        /// The item being read.
        what: &'static str,
        /// Offset of the item, in bytes.
        at: u64,
        /// Its declared length.
        needs: u64,
        /// Bytes up to the end of the file.
        left: u64,
    },
    /// The list of variables contradicts itself.
    #[error("the list of weights is damaged at byte {at}: {why}; fetch the model again")]
    Damaged {
        /// Offset of the damage, in bytes.
        at: u64,
        /// Kind of damage.
        why: &'static str,
    },
    /// The file lacks a variable of the network.
    #[error("the weights have no variable {name:?}; this is no complete Whisper model")]
    Missing {
        /// The variable as the file calls it.
        name: String,
    },
    /// A variable has values of an unsupported type.
    #[error(
        "the values of {name:?} are of type {found}, not f32, f16 or bf16; convert the model with --quantization float16"
    )]
    Type {
        /// The variable as the file calls it.
        name: String,
        /// CTranslate2's number of the type (1 is int8, 2 int16, 3 int32).
        found: u8,
    },
    /// A variable does not have the shape that the others imply.
    #[error("the shape of {name:?} is {found:?}, not {wanted}; fetch the model again")]
    Shape {
        /// The variable as the file calls it.
        name: String,
        /// Its dimensions in the file.
        found: Vec<usize>,
        /// Shape that fits the rest of the model.
        wanted: String,
    },
    /// A variable holds infinities or NaN.
    #[error("{name:?} has values that are not finite; fetch the model again")]
    NotFinite {
        /// The variable as the file calls it.
        name: String,
    },
    /// Aliases would read more than the file holds.
    #[error("{name:?} and others together are larger than the file; fetch the model again")]
    Shared {
        /// The variable that exceeded the limit.
        name: String,
    },
    /// A JSON file is invalid or has wrong types.
    #[error("cannot read {file}: {}; take it from the same folder as the weights", brief(source))]
    Json {
        /// `tokenizer.json` or `config.json`.
        file: &'static str,
        /// Error of the parser, with its position.
        source: serde_json::Error,
    },
    /// The tokenizer does not fit the weights or itself.
    #[error(
        "the tokenizer's {token:?} {problem}; take tokenizer.json from the same folder as the weights"
    )]
    Token {
        /// The token, shortened.
        token: String,
        /// The mismatch, to be read after the token.
        problem: &'static str,
    },
}

/// Error while transcribing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscribeError {
    /// More sound than the model's window.
    #[error(
        "cannot transcribe {samples} samples at once, at most {most}; cut the sound at a pause"
    )]
    TooLong {
        /// Samples given.
        samples: usize,
        /// Samples that the model holds, 480,000 (30 s) for all released ones.
        most: usize,
    },
    /// The model does not know this language.
    #[error("the model has no language {asked:?}; {known}")]
    Language {
        /// Language asked for.
        asked: String,
        /// Languages of the model, in words.
        known: String,
    },
    /// The `cancelled` callback returned true.
    #[error("the transcription was cancelled by its caller")]
    Cancelled,
}

impl From<Cancelled> for TranscribeError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// A JSON error's text, shortened because it may quote a long value.
fn brief(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.len() <= 200 {
        return text;
    }
    let start: String = text.chars().take(100).collect();
    format!("{start}... at line {} column {}", error.line(), error.column())
}

/// The beginning of an untrusted text.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

//! The model files that tests of hearing need.
//!
//! Entry function: [`weights`].

use std::path::PathBuf;

use super::skipped::{not_installed, skipped, third_party};

/// The folder of model files, `whisper-tiny.en` among them; `None`, after a report: not installed.
pub fn weights() -> Option<PathBuf> {
    let folder = third_party("models");
    if folder.join("whisper-tiny.en/manifest.json").is_file() {
        return Some(folder);
    }
    skipped("tests with whisper-tiny.en", &not_installed("models"));
    None
}

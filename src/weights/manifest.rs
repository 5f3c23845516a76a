//! List of a set's files, beside them in their folder: what each is, and where it came from.
//!
//! Entry type: [`Manifest`].

use std::{
    io::{self, Read},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{digest::Digest, set::WeightSet};
use crate::files;

/// The name of its file in the folder of a set.
pub const FILE: &str = "manifest.json";
/// The name of what licences want to be kept with the files.
pub const NOTICE: &str = "NOTICE.txt";
/// Longest one that is read, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;
/// Characters of why one cannot be read, which may hold a value of any length.
const MOST_SAID: usize = 200;

/// Content of a folder of weights.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of the set.
    pub name: String,
    licence: String,
    packages: Vec<From>,
    /// All of the set.
    pub files: Vec<Listed>,
}

/// A package as it was.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct From {
    from: String,
    file: String,
    sha256: Digest,
}

/// A file as it was written.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// In the folder.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Hash of its content.
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

    /// That of `folder`.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut text = String::new();
        files::open(&folder.join(FILE))?.take(MOST_BYTES).read_to_string(&mut text)?;
        serde_json::from_str(&text).map_err(|error| {
            let why: String = error.to_string().chars().take(MOST_SAID).collect();
            io::Error::other(why)
        })
    }
}

//! SHA-256 of files.
//!
//! Entry type: [`Digest`].

use std::{
    fmt,
    io::{self, Read},
    path::Path,
};

use sha2::{Digest as _, Sha256};

use crate::{domain::hex, files};

/// Read at a time.
const PIECE: usize = 128 * 1024;

/// A SHA-256, as 64 small hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Digest(String);

impl Digest {
    /// Reads 64 hexadecimal digits; `None`: it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_one = text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit());
        is_one.then(|| Self(text.to_ascii_lowercase()))
    }

    /// One that is written in the program; a test parses them all.
    pub(super) fn written(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The digest of everything fed to `hash`.
    pub(super) fn of(hash: Sha256) -> Self {
        Self(hex(&hash.finalize()))
    }

    /// That of the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let (mut file, mut hash) = (files::open(path)?, Sha256::new());
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(Self::of(hash)),
                read => hash.update(piece.get(..read).unwrap_or_default()),
            }
        }
    }

    /// Its 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

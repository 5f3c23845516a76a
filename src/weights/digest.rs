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

const PIECE: usize = 128 * 1024;

/// 64 lowercase hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Digest(String);

impl Digest {
    /// `None`: not 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_one = text.len() == 64 && text.chars().all(|c| c.is_ascii_hexdigit());
        is_one.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Takes a literal; a test parses them all.
    pub(super) fn written(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn of(hash: Sha256) -> Self {
        Self(hex(&hash.finalize()))
    }

    /// Blocks while it reads the whole file.
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

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! What a configuration makes the program do that needs its user's yes.
//!
//! Entry type: [`Demand`]: a line as the user reads it, and the files of the folder that it is about.
//! **Never**: says the value of a variable.

use std::{fmt, path::PathBuf};

use sha2::{Digest as _, Sha256};

use crate::{
    domain::{hex, revealed_name},
    weights::Digest,
};

/// Commands that do what a demand says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Playing: whatever starts programs or talks to services.
    Play,
    /// Opening the memory, which playing does too.
    Remember,
    /// Talking to Discord, which playing does too.
    Discord,
    /// Downloading model files.
    Download,
}

/// Something that needs a yes, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The whole of it on one line.
    line: String,
    /// Commands that do it.
    of: Use,
    /// Files of the folder that a command names; a change in one asks again.
    files: Vec<PathBuf>,
}

impl Demand {
    /// What `line` says, done by commands of `of`.
    pub fn new(of: Use, line: impl AsRef<str>) -> Self {
        Self { line: revealed_name(line.as_ref()), of, files: Vec::new() }
    }

    /// This one, where commands of `of` do it.
    pub fn done_by(self, of: Use) -> Self {
        Self { of, ..self }
    }

    /// This one, about `files`.
    pub fn about(self, files: Vec<PathBuf>) -> Self {
        Self { files, ..self }
    }

    /// True if commands of `of` do it.
    pub fn concerns(&self, of: Use) -> bool {
        self.of == of || (of == Use::Play && self.of != Use::Download)
    }

    /// SHA-256 of the line and of its files, read now; a file that cannot be read counts as missing.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        };
        add(self.line.as_bytes());
        for file in &self.files {
            let content = Digest::of_file(file).map(|it| it.to_string()).unwrap_or_default();
            add(file.as_os_str().as_encoded_bytes());
            add(content.as_bytes());
        }
        hex(&hash.finalize())
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

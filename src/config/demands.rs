//! Actions of a configuration that need the user's agreement. Entry type: [`Demand`].
//! **Never**: includes the value of a variable.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::domain::{hex, revealed_name};

/// Commands that perform an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Playing: starts programs and talks to services.
    Play,
    /// Opening the memory; part of playing.
    Remember,
    /// Talking to Discord; part of playing.
    Discord,
    Download,
}

/// An action that needs agreement, once: its line for the user, and the state of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Complete, on one line.
    line: String,
    of: Use,
    /// Digest of the files that its program may run, when read; a changed one needs new agreement.
    code: String,
}

impl Demand {
    /// The action in `line`, performed by commands of `of`.
    pub fn new(of: Use, line: impl AsRef<str>) -> Self {
        Self { line: revealed_name(line.as_ref()), of, code: String::new() }
    }

    /// Changes the commands that perform it.
    pub fn done_by(self, of: Use) -> Self {
        Self { of, ..self }
    }

    /// Adds the digest `code` of its files.
    pub fn about(self, code: &str) -> Self {
        Self { code: code.to_owned(), ..self }
    }

    /// True if it starts a program that may run files of the folder.
    pub fn is_about_code(&self) -> bool {
        !self.code.is_empty()
    }

    pub fn clean(&mut self, cleaned: impl Fn(&str) -> String) {
        self.line = cleaned(&self.line);
    }

    /// True if commands of `of` perform it.
    pub fn concerns(&self, of: Use) -> bool {
        self.of == of || (of == Use::Play && self.of != Use::Download)
    }

    /// SHA-256 of the line alone. Its record only shows an agreement before files changed.
    pub fn line_digest(&self) -> String {
        digest_of(["line", &self.line, ""])
    }

    /// SHA-256 of the line and its files.
    pub fn digest(&self) -> String {
        digest_of([&self.line, &self.code])
    }
}

/// SHA-256 of `parts`, each prefixed by its length.
pub fn digest_of(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_ref().len().to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

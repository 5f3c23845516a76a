//! What a configuration makes the program do that needs its user's yes.
//!
//! Entry type: [`Demand`]: a line as the user reads it, and the state of the folder that it is about.
//! **Never**: says the value of a variable.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::domain::{hex, revealed_name};

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
    /// Digest of the files that its program may run, as they were when it was read; another one asks again.
    code: String,
}

impl Demand {
    /// What `line` says, done by commands of `of`.
    pub fn new(of: Use, line: impl AsRef<str>) -> Self {
        Self { line: revealed_name(line.as_ref()), of, code: String::new() }
    }

    /// This one, where commands of `of` do it.
    pub fn done_by(self, of: Use) -> Self {
        Self { of, ..self }
    }

    /// This one, about files with the digest `code`.
    pub fn about(self, code: &str) -> Self {
        Self { code: code.to_owned(), ..self }
    }

    /// True if it starts a program that may run files of the folder.
    pub fn is_about_code(&self) -> bool {
        !self.code.is_empty()
    }

    /// Takes out of its line what `cleaned` does.
    pub fn clean(&mut self, cleaned: impl Fn(&str) -> String) {
        self.line = cleaned(&self.line);
    }

    /// True if commands of `of` do it.
    pub fn concerns(&self, of: Use) -> bool {
        self.of == of || (of == Use::Play && self.of != Use::Download)
    }

    /// SHA-256 of the line alone. Its record is no yes: it shows that there was one before files changed.
    pub fn line_digest(&self) -> String {
        digest_of(["line", &self.line, ""])
    }

    /// SHA-256 of the line, as it is shown, and of its files.
    pub fn digest(&self) -> String {
        digest_of([&self.line, &self.code])
    }
}

/// SHA-256 of `parts`, each with its length before it.
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

//! Problems in a file, and their positions.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};

/// Longest quotation from a file in a message, in characters.
const QUOTE_MAX: usize = 60;

/// Line and column (in characters), from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    pub const START: Self = Self { line: 1, column: 1 };
}

/// Ordered by file, line, column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// As the user knows it.
    #[serde(serialize_with = "plain")]
    pub file: Arc<str>,
    #[serde(flatten)]
    pub at: Position,
    /// Lowercase, one line.
    pub message: String,
    /// The fix; may be empty.
    pub way_out: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.at;
        write!(f, "{}:{line}:{column}: {}", self.file, self.message)?;
        if self.way_out.is_empty() { Ok(()) } else { write!(f, " ({})", self.way_out) }
    }
}

fn plain<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

#[derive(Clone, Debug)]
pub struct Problems {
    file: Arc<str>,
    /// In the order of finding.
    list: Vec<Problem>,
}

impl Problems {
    pub fn new(file: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), list: Vec::new() }
    }

    pub const fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// `way_out` may be empty.
    pub fn add(&mut self, at: Position, message: impl Into<String>, way_out: impl Into<String>) {
        let (message, way_out) = (message.into(), way_out.into());
        self.list.push(Problem { file: Arc::clone(&self.file), at, message, way_out });
    }

    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub const fn count(&self) -> usize {
        self.list.len()
    }

    /// Takes over the problems of another list for this file.
    pub fn append(&mut self, other: Self) {
        self.list.extend(other.list);
    }

    pub fn into_vec(self) -> Vec<Problem> {
        self.list
    }
}

/// `text` in single quotes, shortened, control characters made visible.
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("'");
    for (index, char) in text.chars().enumerate() {
        if index == QUOTE_MAX {
            shown.push('…');
            break;
        }
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown.push('\'');
    shown
}

//! Text of an answer, without Discord's or a terminal's markup. Entry types: [`Text`], [`Refusal`].

use std::fmt;

use crate::session::SpeakerId;

/// Why nothing was done, with the fix; only the caller sees it.
#[derive(Debug)]
pub struct Refusal(pub String);

/// Converts every error to words. (A refusal itself is not one, so that this covers them all.)
impl<T: fmt::Display> From<T> for Refusal {
    fn from(why: T) -> Self {
        Self(why.to_string())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Our own words.
    Plain(String),
    /// A name, emphasised if possible, and verbatim.
    Strong(String),
    /// Others' words, verbatim.
    Others(String),
    /// A player, named in the face's way.
    Person(SpeakerId),
    /// Words whose emphasised parts stand between pairs of `**`.
    Marked(String),
}

/// A text in pieces; a line break in a piece ends a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Vec<Piece>);

impl Text {
    /// Begins with an emphasised name.
    pub fn of(name: impl Into<String>) -> Self {
        Self::default().strong(name)
    }

    /// Adds our own words.
    pub fn plain(self, words: impl Into<String>) -> Self {
        self.with(Piece::Plain(words.into()))
    }

    /// Adds an emphasised name.
    pub fn strong(self, name: impl Into<String>) -> Self {
        self.with(Piece::Strong(name.into()))
    }

    /// Adds others' words.
    pub fn others(self, words: impl Into<String>) -> Self {
        self.with(Piece::Others(words.into()))
    }

    pub fn person(self, id: SpeakerId) -> Self {
        self.with(Piece::Person(id))
    }

    /// With words behind it whose emphasised parts stand between pairs of `**`.
    pub fn marked(self, words: impl Into<String>) -> Self {
        self.with(Piece::Marked(words.into()))
    }

    fn with(mut self, piece: Piece) -> Self {
        self.0.push(piece);
        self
    }

    /// Joins texts, one per line.
    pub fn lines(lines: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for line in lines {
            if !all.0.is_empty() {
                all = all.plain("\n");
            }
            all.0.extend(line.0);
        }
        all
    }

    /// Renders each piece by `shown`.
    pub fn rendered(&self, shown: impl FnMut(&Piece) -> String) -> String {
        self.0.iter().map(shown).collect()
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::default().plain(words)
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self::default().plain(words)
    }
}

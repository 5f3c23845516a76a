//! Words of an answer, with neither Discord's markup nor a terminal's.
//!
//! Entry types: [`Text`], [`Refusal`]. **Never**: says how emphasis looks.

use std::fmt;

use crate::session::SpeakerId;

/// Reason for doing nothing, with the way out; only the caller sees it.
#[derive(Debug)]
pub struct Refusal(pub String);

/// Every error says why in words. (A refusal itself is not one, so that this covers them all.)
impl<T: fmt::Display> From<T> for Refusal {
    fn from(why: T) -> Self {
        Self(why.to_string())
    }
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words of ours.
    Plain(String),
    /// A name, emphasised where a face can; shown to the letter.
    Strong(String),
    /// Words of others, shown to the letter.
    Others(String),
    /// A player, named as the face names people.
    Person(SpeakerId),
    /// Words whose emphasised parts stand between pairs of `**`.
    Marked(String),
}

/// A text in pieces; a line end in a piece ends a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Vec<Piece>);

impl Text {
    /// A text that begins with an emphasised name.
    pub fn of(name: impl Into<String>) -> Self {
        Self::default().strong(name)
    }

    /// With words of ours behind it.
    pub fn plain(self, words: impl Into<String>) -> Self {
        self.with(Piece::Plain(words.into()))
    }

    /// With an emphasised name behind it.
    pub fn strong(self, name: impl Into<String>) -> Self {
        self.with(Piece::Strong(name.into()))
    }

    /// With words of others behind it.
    pub fn others(self, words: impl Into<String>) -> Self {
        self.with(Piece::Others(words.into()))
    }

    /// With a person behind it.
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

    /// These texts, a line each.
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

    /// One string, in which each piece looks as `shown` says.
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

//! Texts of commands as Discord shows them.
//!
//! Entry function: [`marked`]. **Never**: lets words of others be markup.

use super::names::{escaped, strong};
use crate::commands::{Piece, Text};

/// `text` with Discord's markup.
pub fn marked(text: &Text) -> String {
    text.rendered(|piece| match piece {
        Piece::Plain(words) | Piece::Marked(words) => words.clone(),
        Piece::Strong(name) => strong(name),
        Piece::Others(words) => escaped(words),
        Piece::Person(id) => format!("<@{}>", id.0),
    })
}

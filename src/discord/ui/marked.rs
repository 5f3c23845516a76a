//! Texts of commands as Discord shows them.
//!
//! Entry function: [`marked`]. Escapes words of others.

use super::names::escaped;
use crate::commands::{Piece, Text};

pub fn marked(text: &Text) -> String {
    text.rendered(|piece| match piece {
        Piece::Plain(words) => words.clone(),
        Piece::Strong(name) => format!("**{}**", escaped(name)),
        Piece::Others(words) => escaped(words),
        Piece::Person(id) => format!("<@{}>", id.0),
    })
}

//! HTML of others as a flat run of tags and text, in time and memory linear in its length.
//!
//! Entry functions: [`pieces()`], [`plain_text`] and [`line()`] (one line), [`prose()`] (text with
//! paragraphs). **Never**: builds a tree, which could be nested too deep for a stack.

mod pieces;
mod prose;

pub use pieces::{PARAGRAPH, Piece, Skipped, Tag, line, pieces, plain_text};
pub use prose::{Prose, prose};

//! Selection of the tools offered to a model when an NPC may use more than it should read.
//!
//! Entry points: [`super::ToolHost::offered`], [`super::ToolHost::narrowed`]. Tools are ranked by the nearness of
//! their meaning to what was said where an embedder is set, else by words in common. What is chosen
//! keeps the catalog's order, so that a provider's prompt cache holds over the rounds of a turn.
//! **Never**: offers what the NPC may not see; makes [`super::ToolHost::visible`] wait.

mod dense;
mod discover;
mod lexical;
mod narrow;
mod selector;
mod words;

#[cfg(test)]
mod tests;

pub use discover::{DISCOVER, found_in};
pub(super) use lexical::Lexical;
pub(super) use selector::Selecting;
pub use selector::{Query, SelectionOptions};
pub(super) use words::words_of;

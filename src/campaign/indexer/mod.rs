//! Makes what was said searchable in pieces, by words and by vectors.
//!
//! Entry type: [`Indexer`]. **Never**: keeps the transcript writer or a table waiting.

mod chunk;
mod task;
#[cfg(test)]
mod tests;

pub use task::Indexer;

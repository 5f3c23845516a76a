//! Indexes transcripts by words and by vectors. Entry type: [`Indexer`].
//! **Never**: delays the transcript writer or a table.

mod chunk;
mod task;
#[cfg(test)]
mod tests;

pub use task::{Indexed, Indexer};

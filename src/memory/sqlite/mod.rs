//! The store in one file: SQLite in WAL mode, every commit flushed to the disk.
//!
//! Entry type: [`Sqlite`]. Several processes may open the file; they take turns writing. Only its
//! owner may read it. **Never**: uses the system's library.

mod campaign;
mod connect;
mod deletions;
mod engine;
mod failure;
mod forget;
mod graph;
mod items;
mod lines;
mod migrate;
mod paths;
mod postings;
mod recognise;
mod rows;
mod search;
mod settings;
mod spending;
mod store;
mod vectors;

#[cfg(test)]
mod tests;

pub use recognise::recognise;
pub use store::Sqlite;

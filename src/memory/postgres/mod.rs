//! The memory in PostgreSQL, which many programs may share.
//!
//! Entry type: [`Postgres`], at an [`Address`]. A pool lends connections and opens new ones after
//! an outage. **Never**: acknowledges a line that is not on the server's disk, or answers later
//! than its bound.

mod address;
mod append;
mod automation;
mod deletions;
mod failure;
mod fence;
mod graph;
mod index;
mod kept_tables;
mod leases;
mod migrate;
mod removal;
mod search;
mod settings;
mod spending;
mod sql;
mod store;
mod tokens;
mod transcript;
mod walk;
mod words;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use store::Postgres;

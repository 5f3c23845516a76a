//! One person's stored data: shown to them, and forgotten. Entry type: [`Privacy`].
//! **Never**: leaves a person's words where NPCs continue from them.

mod direct;
mod erasure;
mod files;
mod lines;
mod pending;
mod queue;
mod request;
mod service;
#[cfg(test)]
mod tests;

pub use direct::DirectDeletion;
pub use files::{kept_of, played_elsewhere};
pub use lines::{names, own_lines, stored_of};
pub use request::{Deleted, KeptFiles, KeptOf, NamesOf, StoredOf};
pub use service::Privacy;

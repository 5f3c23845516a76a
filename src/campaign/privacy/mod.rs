//! Records of one person: shown to them, and forgotten.
//!
//! Entry type: [`Privacy`]. **Never**: leaves a person's words where NPCs go on from them.

mod erasure;
mod error;
mod files;
mod lines;
mod pending;
mod queue;
mod request;
mod service;
#[cfg(test)]
mod tests;

pub use files::{forget_kept, played_elsewhere};
pub use lines::{forget, names};
pub use request::{Deleted, NamesOf};
pub use service::Privacy;

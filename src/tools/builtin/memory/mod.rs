//! `memory` and `session-manager`: what the table remembers, by what the caller may know.
//!
//! Entry type: [`Archive`]. An NPC finds what it witnessed, was told or may know; the operator and
//! the game master's assistant find everything. **Never**: changes what is remembered.

mod archive;
mod ask;
mod facts;
mod look;
mod meaning;
mod offer;
#[cfg(test)]
mod tests;

pub use archive::{Archive, ArchiveParts, viewer};
pub use meaning::Meaning;
pub use offer::{memory_tools, session_tools};

//! `memory` and `session-manager`: read-only search of the table's memory. An NPC finds what it
//! witnessed, heard or may know; the operator and the assistant find everything.

mod archive;
mod facts;
mod look;
mod offer;
#[cfg(test)]
mod tests;

pub use archive::{Archive, ArchiveParts, Meaning, viewer};
pub use offer::{memory_tools, session_tools};

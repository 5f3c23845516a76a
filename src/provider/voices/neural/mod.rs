//! Parts shared by all voices that are networks in files on this machine.
//!
//! Entry types: [`spoken::Making`], which computes sound piece by piece; [`cores::Cores`], where that
//! happens; [`clauses::Clause`], what is to be said. **Never**: knows whose network it is.

pub mod clauses;
pub mod cores;
pub mod fields;
pub mod files;
pub mod network;
pub mod spoken;
pub mod whole;

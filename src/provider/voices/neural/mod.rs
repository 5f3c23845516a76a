//! Parts shared by all voices that are networks in files on this machine.
//!
//! Entry types: [`spoken::Making`], which computes sound piece by piece; [`cores::Cores`], its
//! threads; [`clauses::Clause`], its text; [`warming::Warmed`], its first word.

pub mod clauses;
pub mod cores;
pub mod fields;
pub mod files;
pub mod spoken;
pub mod warming;

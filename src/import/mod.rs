//! Files of other programs, and ours, as values of the domain. Bytes in, values out.
//!
//! Entry functions: [`rules()`] (a checked YAML tree in our format), [`rules_file`] (the same from
//! text), [`rules_json()`] (5e-database and Open5e), [`skim`] (names of rules), those of
//! [`campaign`], and [`read`] (files of other programs, as [`Drafts`]).
//! **Never**: opens a file or reads the environment.

pub mod campaign;
mod cards;
mod content;
mod creatures;
pub mod draft;
mod elements;
mod foundry;
mod go;
mod kind;
mod notes;
mod pronounced;
mod refused;
mod roll20;
mod rules;
mod rules_json;
mod shorten;

pub use draft::{Drafts, Mistake};
pub use kind::{FILE_MAX, Given, is_ours, read, read_one};
pub use rules::{RULES, RULES_MAX, RuleNames, rules, rules_file, skim};
pub use rules_json::rules_json;

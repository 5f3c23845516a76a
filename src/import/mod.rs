//! Files of other programs, and of ours, as values of the domain.
//!
//! Entry functions: [`rules()`] (a checked YAML tree of our own shape), [`rules_file`] (the same from
//! text), [`rules_json()`] (5e-database and Open5e), [`skim`] (what rules are called), and those of
//! [`campaign`]. Bytes come in, values go out.
//! **Never**: opens a file, reads the environment, plays by a rule.

pub mod campaign;
mod rules;
mod rules_json;
mod shorten;

pub use rules::{RULES, RULES_MAX, RuleNames, rules, rules_file, skim};
pub use rules_json::rules_json;

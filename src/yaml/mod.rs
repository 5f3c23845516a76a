//! YAML text -> a tree that knows line and column, checked against a table of keys.
//!
//! Entry functions: [`text`] (bytes to text), [`parse()`] (text to [`Node`]), [`check()`] (a node against a
//! [`Kind`]) and [`Fields`] (typed reading of a checked mapping). Problems are collected in [`Problems`], never
//! thrown one at a time; what had a problem becomes [`Value::Broken`] and is not complained about
//! twice. The same [`Shape`] tables drive checking and the published JSON Schemas.
//! **Never**: files, environment, what a key means.

mod check;
mod fields;
mod near;
mod parse;
mod problem;
mod scalar;
mod shape;
mod tree;

#[cfg(test)]
mod tests;

pub use check::check;
pub use fields::Fields;
pub use near::nearest;
pub use parse::{parse, text};
pub use problem::{Position, Problem, Problems, quoted};
pub use scalar::Scalar;
pub use shape::{Key, Kind, Shape};
pub use tree::{Entry, Node, Value};

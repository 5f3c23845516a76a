//! YAML text to a tree with lines and columns, checked against a table of keys.
//!
//! Entry functions: [`text`] (bytes to text), [`parse()`] (text to [`Node`]), [`check()`] (a node
//! against a [`Kind`]) and [`Fields`] (typed reading of a checked mapping). [`Problems`] collects
//! all problems; a value with a problem becomes [`Value::Broken`] and is reported once. The same
//! [`Shape`] tables drive checking and the published JSON Schemas.

mod check;
mod fields;
mod parse;
mod problem;
mod scalar;
mod shape;
mod tree;

#[cfg(test)]
mod tests;

pub use check::{check, nearest};
pub use fields::Fields;
pub use parse::{parse, text};
pub use problem::{Position, Problem, Problems, quoted};
pub use scalar::Scalar;
pub use shape::{Key, Kind, Shape};
pub use tree::{Entry, Node, Value};

//! Errors of making arguments for a schema.

use crate::tools::schema::{Mismatch, SchemaError};

/// Reason no arguments could be made; its text begins with "it" or "its", meaning the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArguments {
    /// The schema's type (JSON) is not an object.
    #[error("its schema asks for {0} instead of an object")]
    NoObject(String),
    /// It refers to itself, or nests too deeply.
    #[error("its schema nests without end")]
    Endless,
    /// A part is `false`.
    #[error("part of its schema allows nothing")]
    Nothing,
    /// Dangling reference.
    #[error("'{0}' is not in its schema")]
    Reference(String),
    /// `oneOf` or `anyOf` without branches.
    #[error("its '{0}' is empty")]
    NoBranch(String),
    /// No branch could be satisfied.
    #[error("no branch of its '{0}' accepts the values tried")]
    NoFittingBranch(String),
    /// A list longer than the limit.
    #[error("it needs {0} items")]
    Items(u64),
    /// Not enough distinct values for `uniqueItems`.
    #[error("it needs different items")]
    Alike,
    #[error("'{member}': {why}")]
    Member { member: String, why: Box<NoArguments> },
    #[error("it needs {0} members")]
    Members(u64),
    #[error("it needs {0} characters")]
    Characters(u64),
    /// No sample text matches the pattern (JSON).
    #[error("nothing that was tried matches the pattern {0}")]
    Pattern(String),
    /// No number within the bounds.
    #[error("no number fits")]
    Number,
    /// No whole number within the bounds; holds the one tried.
    #[error("no whole number fits ({0})")]
    Whole(String),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

//! Errors of making arguments for a schema.

use crate::tools::schema::{Mismatch, SchemaError};

/// Reason no arguments could be made; its text begins with "it" or "its", the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoArguments {
    /// The schema's values, of which this is one (JSON), are no objects.
    #[error("its schema asks for {0} instead of an object")]
    NoObject(String),
    /// It refers to itself, or nests deeper than is tried.
    #[error("its schema nests without end")]
    Endless,
    /// A part of it is `false`.
    #[error("part of its schema allows nothing")]
    Nothing,
    /// A reference that leads nowhere.
    #[error("'{0}' is not in its schema")]
    Reference(String),
    /// A choice (`oneOf`, `anyOf`) without branches.
    #[error("its '{0}' is empty")]
    NoBranch(String),
    /// A choice none of whose branches could be met.
    #[error("no branch of its '{0}' accepts the values tried")]
    NoFittingBranch(String),
    /// A list longer than is tried.
    #[error("it needs {0} items")]
    Items(u64),
    /// A list of items for which not enough values were found.
    #[error("it needs different items")]
    Alike,
    /// A member for which there is no value.
    #[error("'{member}': {why}")]
    Member {
        /// Name of the member.
        member: String,
        /// Reason it has no value.
        why: Box<NoArguments>,
    },
    /// An object with more members than are tried.
    #[error("it needs {0} members")]
    Members(u64),
    /// A text longer than is tried.
    #[error("it needs {0} characters")]
    Characters(u64),
    /// A text whose pattern (JSON) nothing matched.
    #[error("nothing that was tried matches the pattern {0}")]
    Pattern(String),
    /// Bounds between which there is no number.
    #[error("no number fits")]
    Number,
    /// Bounds between which there is no whole number; the one tried.
    #[error("no whole number fits ({0})")]
    Whole(String),
    /// The generated arguments do not pass the whole schema.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The schema itself is broken.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

//! Errors of a schema, and of a value that does not match it.

use super::limits;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// In the compiler's words.
    #[error("{0}")]
    Broken(String),
    #[error("its input schema is not an object")]
    NoObject,
    /// Holds the type (JSON).
    #[error("its input schema is of type {0}, not an object")]
    OtherType(String),
    #[error("it is larger than {} KiB", limits::BYTES >> 10)]
    Large,
    #[error("it has more than {} parts", limits::PARTS)]
    Parts,
    #[error("its parts are nested more than {} deep", limits::DEPTH)]
    Deep,
    #[error(
        "more than {} references and combinations lead from one part to the next",
        limits::CHAIN
    )]
    Chain,
    #[error("its references lead to more than {} places", limits::TARGETS)]
    Targets,
    #[error("its references lead more than {} parts deep", limits::LEVELS)]
    Levels,
    #[error("it unfolds to more than {} checks of one value", limits::CHECKS)]
    Unfolds,
    #[error("a part of it refers to itself without a member or an item between")]
    Endless,
    #[error(
        "it refers to itself, which cannot be checked beside 'unevaluatedProperties' or 'unevaluatedItems'"
    )]
    Unevaluated,
    #[error("it refers to '{0}', which is outside (nothing is fetched)")]
    Elsewhere(String),
    #[error("it refers to '{0}', which is not in it")]
    Nowhere(String),
    #[error("a part of it has an '$id' of its own (only the whole may)")]
    OwnAddress,
    #[error("two parts of it are called '{0}'")]
    SameAnchor(String),
    #[error("it has more than {} patterns", limits::PATTERNS)]
    Patterns,
    /// A regular expression that is invalid, or unbounded in time or memory.
    #[error("the pattern '{0}' cannot be used (no look-around, no back-references, nothing huge)")]
    Pattern(String),
    #[error("cannot start a thread to compile it")]
    NoThread,
}

/// Worded for a model: the problem, its place, and the expected value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub(super) String);

//! Errors of a schema, and of a value that does not match it.

use super::limits;

/// Reason a schema cannot be used for a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON Schema, in the compiler's own words.
    #[error("{0}")]
    Broken(String),
    /// No model can be given parameters that are no object.
    #[error("its input schema is not an object")]
    NoObject,
    /// It asks for values of this type (JSON) where an object is needed.
    #[error("its input schema is of type {0}, not an object")]
    OtherType(String),
    /// It is longer than is read.
    #[error("it is larger than {} KiB", limits::BYTES >> 10)]
    Large,
    /// It has more objects and lists than are looked at.
    #[error("it has more than {} parts", limits::PARTS)]
    Parts,
    /// Its parts lie in each other deeper than is looked at.
    #[error("its parts are nested more than {} deep", limits::DEPTH)]
    Deep,
    /// References to references, and combinations of combinations, have no near end.
    #[error(
        "more than {} references and combinations lead from one part to the next",
        limits::CHAIN
    )]
    Chain,
    /// It has more references than are followed.
    #[error("its references lead to more than {} places", limits::TARGETS)]
    Targets,
    /// Its references lead deeper than is followed.
    #[error("its references lead more than {} parts deep", limits::LEVELS)]
    Levels,
    /// It unfolds to more than is checked.
    #[error("it unfolds to more than {} checks of one value", limits::CHECKS)]
    Unfolds,
    /// A part that asks for itself of the same value.
    #[error("a part of it refers to itself without a member or an item between")]
    Endless,
    /// `unevaluated…` cannot be followed through a circle.
    #[error(
        "it refers to itself, which cannot be checked beside 'unevaluatedProperties' or 'unevaluatedItems'"
    )]
    Unevaluated,
    /// A reference to another document; nothing is fetched.
    #[error("it refers to '{0}', which is outside (nothing is fetched)")]
    Elsewhere(String),
    /// A reference to what is not there.
    #[error("it refers to '{0}', which is not in it")]
    Nowhere(String),
    /// A part with an address of its own changes what references mean.
    #[error("a part of it has an '$id' of its own (only the whole may)")]
    OwnAddress,
    /// Two parts have one name.
    #[error("two parts of it are called '{0}'")]
    SameAnchor(String),
    /// More regular expressions than are kept.
    #[error("it has more than {} patterns", limits::PATTERNS)]
    Patterns,
    /// A regular expression that has no bound in time or memory, or is none.
    #[error("the pattern '{0}' cannot be used (no look-around, no back-references, nothing huge)")]
    Pattern(String),
    /// The thread that was to compile it was not to be had.
    #[error("cannot start a thread to compile it")]
    NoThread,
}

/// Difference between a value and what a schema requires, in words for a model: the problem, its
/// place, and the expected value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub(super) String);

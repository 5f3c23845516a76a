//! Limits on the size and expansion of a schema, and errors of a schema or a value.

/// Bytes of JSON.
pub const BYTES: usize = 256 * 1024;
/// Objects and lists.
pub const PARTS: usize = 5_000;
/// Nesting depth.
pub const DEPTH: usize = 64;
/// Longest chain of references and combinations for one value.
pub const CHAIN: usize = 64;
/// Reference targets.
pub const TARGETS: usize = 512;
/// Nesting depth with references expanded, each target once.
pub const LEVELS: usize = 2_000;
/// Checks of one value after expansion.
pub const CHECKS: u64 = 20_000;
/// Regular expressions.
pub const PATTERNS: usize = 64;
/// Bytes of one compiled expression; likewise for its cache at run time.
pub const PATTERN_BYTES: usize = 64 * 1024;

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
    #[error("it is larger than {} KiB", BYTES >> 10)]
    Large,
    #[error("it has more than {} parts", PARTS)]
    Parts,
    #[error("its parts are nested more than {} deep", DEPTH)]
    Deep,
    #[error("more than {} references and combinations lead from one part to the next", CHAIN)]
    Chain,
    #[error("its references lead to more than {} places", TARGETS)]
    Targets,
    #[error("its references lead more than {} parts deep", LEVELS)]
    Levels,
    #[error("it unfolds to more than {} checks of one value", CHECKS)]
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
    #[error("it has more than {} patterns", PATTERNS)]
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

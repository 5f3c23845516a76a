//! Limits on the size of a schema, and on how far it may unfold.

/// Largest schema, in bytes of JSON.
pub const BYTES: usize = 256 * 1024;
/// Most objects and lists in one.
pub const PARTS: usize = 5_000;
/// Deepest nesting of them.
pub const DEPTH: usize = 64;
/// Longest way of references and combinations that apply to one value.
pub const CHAIN: usize = 64;
/// Most places that references lead to.
pub const TARGETS: usize = 512;
/// Deepest nesting with references followed, each place once.
pub const LEVELS: usize = 2_000;
/// Most checks of one value that the schema unfolds to.
pub const CHECKS: u64 = 20_000;
/// Most regular expressions in one schema.
pub const PATTERNS: usize = 64;
/// Largest of them, compiled, in bytes; the same for what it remembers while it runs.
pub const PATTERN_BYTES: usize = 64 * 1024;

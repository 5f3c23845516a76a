//! Limits on the size of a schema, and on its expansion.

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

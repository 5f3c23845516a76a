//! Result of a roll: an [`Outcome`], or a [`DiceError`]; and its limits, which are not
//! configurable: they keep rolling cheap and numbers exact.

use std::cell::Cell;

/// A finished roll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Canonical spelling.
    pub expression: String,
    /// Text behind the dice.
    pub comment: Option<String>,
    /// The face of every die that counts, in the order of the expression and its repeats. Dropped
    /// and rerolled faces are only in `text`.
    pub rolls: Vec<i64>,
    /// One total, or one for each repeat of `N#…`; truncated toward zero.
    pub totals: Vec<i64>,
    /// True for `N#…`, even with a single repeat.
    pub repeated: bool,
    /// For people: `2d6 (4, 5) + 3 = 12`. `~~1~~` was dropped or rerolled, `6!` exploded, `1 -> 2`
    /// was raised or lowered. Repeats have a line each.
    pub text: String,
    /// Set if the leftmost dice kept a single d20 showing 20 or 1; never for `N#…`.
    pub natural: Option<Natural>,
}

impl Outcome {
    /// The total, unless the roll was repeated.
    pub fn total(&self) -> Option<i64> {
        if self.repeated { None } else { self.totals.first().copied() }
    }
}

/// The extremes of a d20, which most rules treat apart from the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Natural {
    Twenty,
    One,
}

/// Text that is no roll, or a roll without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}{}", .hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
pub struct DiceError {
    /// In characters, from 1.
    pub column: usize,
    /// The error, the bad part in quotes.
    pub message: String,
    /// The fix, if known.
    pub hint: Option<String>,
}

/// Most dice thrown by a roll, with rerolls, explosions and repeats (Avrae's limit).
pub const MAX_DICE: u32 = 1_000;
/// Longest expression, in characters.
pub const MAX_CHARS: usize = 500;
/// Deepest nesting of brackets and signs; bounds the recursion of parser, roller and printer.
pub const MAX_DEPTH: usize = 50;
pub const MAX_SIDES: i32 = 1_000_000;
/// Largest absolute value (2^53 - 1): up to here an `f64` holds every whole number exactly.
pub const MAX_NUMBER: f64 = 9_007_199_254_740_991.0;

thread_local! {
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts looks at dice, so that a test can bound a roll's work without a clock.
pub(super) fn note(looks: usize) {
    if cfg!(test) {
        LOOKS.set(LOOKS.get().saturating_add(looks));
    }
}

#[cfg(test)]
pub(super) fn during(work: impl FnOnce()) -> usize {
    LOOKS.set(0);
    work();
    LOOKS.get()
}

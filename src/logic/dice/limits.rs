//! Limits of a roll, not configurable: they keep rolling cheap and numbers exact.

use std::cell::Cell;

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

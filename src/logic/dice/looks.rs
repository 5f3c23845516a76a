//! Counts what a roll costs, so that a test can bound it without a clock.
//!
//! Entry function: [`note`]. **Never**: costs anything outside tests.

use std::cell::Cell;

thread_local! {
    /// Looks at dice on this thread so far.
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Notes so many looks at a die.
pub(super) fn note(looks: usize) {
    if cfg!(test) {
        LOOKS.set(LOOKS.get().saturating_add(looks));
    }
}

/// Counts the looks that `work` takes.
#[cfg(test)]
pub(super) fn during(work: impl FnOnce()) -> usize {
    LOOKS.set(0);
    work();
    LOOKS.get()
}

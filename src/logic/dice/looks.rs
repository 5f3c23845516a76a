//! Counts the work of a roll, so that a test can bound it without a clock. Costs nothing outside
//! tests.
//!
//! Entry function: [`note`].

use std::cell::Cell;

thread_local! {
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

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

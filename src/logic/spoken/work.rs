//! Counts looks at the words of an utterance, so that a test can bound the work without a clock.

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

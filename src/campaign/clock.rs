//! The wall clock, for what is dated.
//!
//! Entry functions: [`now`], [`wall_clock`]. **Never**: times anything; that is for tokio's clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// The system's time.
#[expect(clippy::disallowed_methods, reason = "files and lines carry the time of the wall clock")]
pub fn wall_clock() -> SystemTime {
    SystemTime::now()
}

/// Unix time in ms.
pub fn now() -> i64 {
    #[cfg(test)]
    if let Some(now) = paused::now() {
        return now;
    }
    let since = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A wall clock that goes as the paused clock of a test does, on its thread.
#[cfg(test)]
pub mod paused {
    use std::cell::Cell;

    use tokio::time::Instant;

    thread_local! {
        /// A time, and the moment when it was.
        static BEGAN: Cell<Option<(i64, Instant)>> = const { Cell::new(None) };
    }

    /// It is `time` now, in Unix time in ms.
    pub fn begin(time: i64) {
        BEGAN.set(Some((time, Instant::now())));
    }

    /// The system's time counts again.
    pub fn end() {
        BEGAN.set(None);
    }

    pub fn now() -> Option<i64> {
        let (time, began) = BEGAN.get()?;
        let since = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Some(time.saturating_add(since))
    }
}

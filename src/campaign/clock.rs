//! The wall clock, for dates. **Never**: measures durations; use tokio's clock.

use std::time::{SystemTime, UNIX_EPOCH};

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

/// A wall clock that follows a test's paused clock, on its thread.
#[cfg(test)]
pub mod paused {
    use std::cell::Cell;

    use tokio::time::Instant;

    thread_local! {
        /// A time, and the moment it was set.
        static BEGAN: Cell<Option<(i64, Instant)>> = const { Cell::new(None) };
    }

    /// Sets the time now, in Unix time in ms.
    pub fn begin(time: i64) {
        BEGAN.set(Some((time, Instant::now())));
    }

    /// Returns to the system's time.
    pub fn end() {
        BEGAN.set(None);
    }

    pub fn now() -> Option<i64> {
        let (time, began) = BEGAN.get()?;
        let since = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX);
        Some(time.saturating_add(since))
    }
}

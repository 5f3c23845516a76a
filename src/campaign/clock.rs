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
    let since = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

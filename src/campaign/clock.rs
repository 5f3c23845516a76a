//! The wall clock, and Unix times in ms as text in UTC. **Never**: measures durations.

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

/// As YYYY-MM-DD hh:mm.
pub fn date(at: i64) -> String {
    let (year, month, day) = civil(at.div_euclid(86_400_000));
    format!("{year:04}-{month:02}-{day:02} {}", &time(at)[..5])
}

/// As hh:mm:ss.
pub fn time(at: i64) -> String {
    let seconds = at.div_euclid(1_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// Year, month and day of a number of days since 1970-01-01, by Hinnant's algorithm.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let day = of_year - (153 * part + 2) / 5 + 1;
    let month = if part < 10 { part + 3 } else { part - 9 };
    (year + era * 400 + if month <= 2 { 1 } else { 0 }, month, day)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_782_400_000), "2000-02-29 00:00");
        assert_eq!(date(1_795_337_697_000), "2026-11-22 08:54");
        assert_eq!(time(1_795_337_697_000), "08:54:57");
    }
}

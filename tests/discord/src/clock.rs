//! Time as the loopback sees it, which a test may push forward, and the ids made from it.
//!
//! Entry type: [`Clock`]. Never: waiting.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::time::Instant;

/// Milliseconds between the Unix epoch and Discord's.
const DISCORD_EPOCH: u64 = 1_420_070_400_000;

/// Now, plus what the test has skipped.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    skipped: AtomicU64,
    last_id: AtomicU64,
}

impl Clock {
    /// The monotonic now.
    pub(crate) fn now(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.skipped.load(Ordering::Relaxed))
    }

    /// Milliseconds since the Unix epoch.
    #[expect(clippy::disallowed_methods, reason = "ids and timestamps carry the time of day")]
    pub(crate) fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        ms.saturating_add(self.skipped.load(Ordering::Relaxed))
    }

    /// Lets `by` pass at once.
    pub(crate) fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.skipped.fetch_add(ms, Ordering::Relaxed);
    }

    /// A fresh snowflake, larger than all before.
    pub(crate) fn id(&self) -> u64 {
        let new = self.unix_ms().saturating_sub(DISCORD_EPOCH) << 22;
        let last = self.last_id.fetch_max(new, Ordering::Relaxed).max(new);
        if last == new
            && self
                .last_id
                .compare_exchange(new, new + 1, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            return new + 1;
        }
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A fresh snowflake of a guild on shard `number` of `total`.
    pub(crate) fn id_on(&self, (number, total): (u64, u64)) -> u64 {
        let id = self.id();
        let id = id + (((number + total - (id >> 22) % total) % total) << 22);
        self.last_id.fetch_max(id, Ordering::Relaxed);
        id
    }

    /// The time of day as Discord writes it.
    pub(crate) fn timestamp(&self) -> String {
        iso(self.unix_ms())
    }
}

/// Milliseconds since the Unix epoch in the form `2026-01-31T09:30:00.000000+00:00`.
pub(crate) fn iso(unix_ms: u64) -> String {
    let (seconds, ms) = (unix_ms / 1000, unix_ms % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days, Howard Hinnant's algorithm.
    let z = days + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}000+00:00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_and_ids_rise() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(iso(1_709_210_096_789), "2024-02-29T12:34:56.789000+00:00");
        let clock = Clock::default();
        let ids: Vec<u64> = (0..1000).map(|_| clock.id()).collect();
        assert!(ids.windows(2).all(|two| two[0] < two[1]));
        let shards = [3, 0, 2, 1, 1];
        let guilds = shards.map(|shard| clock.id_on((shard, 4)));
        assert_eq!(guilds.map(|id| (id >> 22) % 4), shards);
        assert!(guilds.windows(2).all(|two| two[0] < two[1]) && clock.id() > guilds[4]);
    }
}

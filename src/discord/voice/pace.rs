//! When a packet was spoken, by its RTP timestamp.
//!
//! Entry type: [`SpokenAt`]. Keeps network jitter out of the timing of speech. **Never**: reads a
//! clock.

use std::time::Duration;

use tokio::time::Instant;

/// Timestamps per second (RFC 7587 §4.1).
const HZ: u64 = 48_000;
/// A longer gap between packets begins a new stretch of speech.
const PAUSE: Duration = Duration::from_millis(200);

/// Maps one speaker's RTP timestamps to the clock.
#[derive(Debug, Default)]
pub struct SpokenAt {
    /// A timestamp and the earliest time at which it can have been spoken.
    base: Option<(u32, Instant)>,
    last: Option<Instant>,
}

impl SpokenAt {
    /// Best estimate of when the packet with `timestamp`, received at `at`, was spoken; never later
    /// than `at`.
    pub fn of(&mut self, timestamp: u32, at: Instant) -> Instant {
        let paused = self.last.is_none_or(|last| at.saturating_duration_since(last) > PAUSE);
        self.last = Some(at);
        let (base, earliest) = match self.base {
            Some(base) if !paused => base,
            _ => {
                self.base = Some((timestamp, at));
                return at;
            }
        };
        let Some(spoken) = after(base, timestamp).map(|since| earliest + since) else {
            self.base = Some((timestamp, at));
            return at;
        };
        if at < spoken || at.saturating_duration_since(spoken) > PAUSE {
            // Earlier than any before it, or the speaker's clock jumped.
            self.base = Some((timestamp, at));
            return at;
        }
        spoken
    }
}

/// Time between two timestamps; `None`: not later.
fn after(base: u32, timestamp: u32) -> Option<Duration> {
    let ticks = timestamp.wrapping_sub(base);
    (ticks < u32::MAX / 2).then(|| Duration::from_nanos(u64::from(ticks) * 1_000_000_000 / HZ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_removed_and_pauses_restart() {
        let start = Instant::now();
        let ms = |ms| start + Duration::from_millis(ms);
        let mut spoken = SpokenAt::default();
        assert_eq!(spoken.of(u32::MAX - 959, ms(10)), ms(10));
        assert_eq!(spoken.of(0, ms(75)), ms(30), "45 ms late");
        assert_eq!(spoken.of(960, ms(76)), ms(50));
        assert_eq!(spoken.of(1_920, ms(60)), ms(60), "sooner than any before");
        assert_eq!(spoken.of(2_880, ms(90)), ms(80));
        assert_eq!(spoken.of(3_840, ms(2_000)), ms(2_000), "after a pause");
        assert_eq!(spoken.of(500_000_000, ms(2_020)), ms(2_020), "another stream");
    }
}

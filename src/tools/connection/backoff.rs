//! Waits between attempts to reconnect a lost server.

use std::time::Duration;

/// Longest wait between two attempts.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Longest wait after [`TRIPPED`] failures in a row.
pub const TRIPPED_WAIT: Duration = Duration::from_secs(5 * 60);
/// Failures in a row after which [`TRIPPED_WAIT`] applies.
const TRIPPED: u32 = 8;

/// Wait before a second restart for a replaced file, without a configured [`Reconnect`].
const RESTART: Duration = Duration::from_secs(1);

/// Wait before each attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reconnect {
    /// Grows from this wait, with jitter.
    Growing(Duration),
    /// Fixed, longer only after [`TRIPPED`] failures.
    Every(Duration),
}

impl Reconnect {
    const fn first(self) -> Duration {
        match self {
            Self::Growing(first) | Self::Every(first) => first,
        }
    }

    /// The wait after `failures` in a row; `random` (0..1) is the jitter.
    fn after(self, failures: u32, random: f64) -> Duration {
        match self {
            Self::Every(wait) if failures < TRIPPED => wait,
            Self::Every(wait) => {
                let doubled = wait.saturating_mul(2u32.saturating_pow(failures - TRIPPED + 1));
                doubled.min(TRIPPED_WAIT.max(wait))
            }
            Self::Growing(first) => backoff(first, failures, random),
        }
    }
}

#[derive(Debug)]
pub enum Ending {
    Lost(String),
    /// Restart: a file was replaced, which its sandbox may no longer let it read. Holds the
    /// message.
    Replaced(String),
}

/// Consecutive short connections.
#[derive(Debug, Default)]
pub struct Row {
    pub failures: u32,
    /// Connections ended because a file of the server was replaced.
    pub replaced: u32,
}

impl Row {
    /// Counts `ending` and returns the wait until the next attempt, zero for the first replaced
    /// file. `None`: final, as failures without `retry` are.
    pub fn wait(
        &mut self,
        ending: &Ending,
        retry: Option<Reconnect>,
        random: f64,
    ) -> Option<Duration> {
        match ending {
            Ending::Lost(_) => {
                self.failures += 1;
                retry.map(|retry| retry.after(self.failures, random))
            }
            Ending::Replaced(_) => {
                self.replaced += 1;
                Some(match self.replaced {
                    1 => Duration::ZERO,
                    again => backoff(retry.map_or(RESTART, Reconnect::first), again - 1, random),
                })
            }
        }
    }
}

/// Doubles `first` per failure up to a bound; `random` (0..1) is the jitter.
fn backoff(first: Duration, failures: u32, random: f64) -> Duration {
    let longest = if failures >= TRIPPED { TRIPPED_WAIT } else { LONGEST_WAIT };
    let doubled = first.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1)));
    doubled.min(longest.max(first)).mul_f64(0.5 + random / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_are_spread() {
        let wait = |failures, random| backoff(Duration::from_secs(1), failures, random).as_millis();
        assert_eq!([wait(1, 1.0), wait(2, 1.0), wait(4, 1.0)], [1_000, 2_000, 8_000]);
        assert_eq!([wait(1, 0.0), wait(7, 1.0)], [500, 60_000]);
        assert_eq!([wait(8, 1.0), wait(9, 1.0), wait(99, 1.0)], [128_000, 256_000, 300_000]);
    }

    #[test]
    fn interval_is_wait_until_too_many_failures() {
        let mut row = Row::default();
        let every = Some(Reconnect::Every(Duration::from_secs(5)));
        let lost = Ending::Lost("gone".to_owned());
        let waits: Vec<_> =
            (0..16).filter_map(|_| row.wait(&lost, every, 0.0)).map(|it| it.as_secs()).collect();
        assert_eq!(waits[..7], [5; 7]);
        assert_eq!(waits[7..], [10, 20, 40, 80, 160, 300, 300, 300, 300]);
    }

    #[test]
    fn file_replaced_often_restarts_less_often() {
        let (mut row, first) = (Row::default(), Some(Reconnect::Growing(Duration::from_secs(3))));
        let replaced = Ending::Replaced("a file".to_owned());
        let mut wait =
            |ending: &Ending, first| row.wait(ending, first, 1.0).map(|wait| wait.as_secs());
        let waits: Vec<_> = (0..5).filter_map(|_| wait(&replaced, first)).collect();
        assert_eq!(waits, [0, 3, 6, 12, 24]);
        // If failures are final, a replaced file is not, and does not count as a failure.
        assert_eq!(wait(&replaced, None), Some(16));
        let lost = Ending::Lost("gone".to_owned());
        assert_eq!((wait(&lost, first), wait(&lost, None)), (Some(3), None));
    }
}

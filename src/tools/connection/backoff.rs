//! Waits between attempts to reach a server that was lost.
//!
//! Entry function: [`backoff`].

use std::time::Duration;

/// Longest wait between two attempts.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Longest wait after [`TRIPPED`] failures in a row.
pub const TRIPPED_WAIT: Duration = Duration::from_secs(5 * 60);
/// Failures in a row after which a server is left alone for longer.
const TRIPPED: u32 = 8;

/// The wait after `failures` in a row: doubled each time up to a bound, spread by `random` (0..1).
pub fn backoff(first: Duration, failures: u32, random: f64) -> Duration {
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
}

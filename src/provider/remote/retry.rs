//! Retries of requests, and the delays before them.
//!
//! Entry type: [`Retry`]. At most two retries, none if another service takes over; only for
//! transient kinds, only while the table has waited less than its patience. The caller retries only
//! before anything was received.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use tokio::time::Instant;

use crate::provider::{Attempts, Error, Kind};

const MAX_RETRIES: u32 = 2;
/// First delay, before jitter; the next is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// Longest delay a service may ask for; a longer one fails at once.
const MAX_WAIT: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub struct Retry {
    until: Instant,
    retries: u32,
    attempts: Attempts,
}

impl Retry {
    /// A request that starts now and is retried within `patience` and as far as `attempts` pays.
    pub fn new(patience: Duration, attempts: Attempts) -> Self {
        Self { until: Instant::now() + patience, retries: 0, attempts }
    }

    /// Waits until the request may be sent again.
    ///
    /// # Errors
    /// `error` itself if it may not be retried, or the budget's error.
    pub async fn again(&mut self, error: Error) -> Result<(), Error> {
        let Some(wait) = self.wait(error.kind(), random_share()) else { return Err(error) };
        self.retries += 1;
        tracing::debug!(kind = ?error.kind(), retry = self.retries, ?wait, "asking again");
        tokio::time::sleep(wait).await;
        self.attempts.again(error.kind()).await
    }

    /// Delay before the next attempt, jittered by `share` (0 to 1).
    fn wait(&self, kind: Kind, share: f64) -> Option<Duration> {
        let is_over = self.retries >= MAX_RETRIES || !self.attempts.are_several();
        if is_over || !kind.is_retryable() {
            return None;
        }
        let backoff = (FIRST_WAIT * 2_u32.pow(self.retries)).mul_f64(0.5 + share);
        let wait = match kind {
            Kind::RateLimited { retry_after: Some(asked) }
            | Kind::Crowded { retry_after: Some(asked) } => {
                asked.max(backoff.min(asked.saturating_mul(2)))
            }
            _ => backoff,
        };
        (wait <= MAX_WAIT && Instant::now() + wait < self.until).then_some(wait)
    }
}

fn random_share() -> f64 {
    let bits = u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: Kind) -> Error {
        Error::new(kind, "no")
    }

    #[tokio::test(start_paused = true)]
    async fn two_retries_with_growing_waits() {
        let mut retry = Retry::new(Duration::from_secs(20), Attempts::default());
        let start = Instant::now();
        retry.again(error(Kind::Unavailable)).await.unwrap();
        let first = start.elapsed();
        assert!((Duration::from_millis(100)..=Duration::from_millis(301)).contains(&first));
        retry.again(error(Kind::Unreachable)).await.unwrap();
        let second = start.elapsed() - first;
        assert!((Duration::from_millis(200)..=Duration::from_millis(601)).contains(&second));
        assert_eq!(
            retry.again(error(Kind::Unavailable)).await.unwrap_err().kind(),
            Kind::Unavailable
        );
    }

    #[tokio::test(start_paused = true)]
    async fn short_retry_waits_are_honoured_long_refused() {
        let limited = |ms| Kind::RateLimited { retry_after: Some(Duration::from_millis(ms)) };
        let mut retry = Retry::new(Duration::from_secs(20), Attempts::default());
        let start = Instant::now();
        retry.again(error(limited(2000))).await.unwrap();
        assert!(start.elapsed() >= Duration::from_secs(2));
        let before = start.elapsed();
        for long in [Duration::from_secs(60), Duration::MAX] {
            let limited = Kind::RateLimited { retry_after: Some(long) };
            assert!(retry.again(error(limited)).await.is_err());
        }
        assert_eq!(start.elapsed(), before);
    }

    #[tokio::test(start_paused = true)]
    async fn final_errors_and_overdue_retries_are_refused() {
        let mut retry = Retry::new(Duration::from_secs(1), Attempts::default());
        for kind in [Kind::Unauthorized, Kind::InvalidRequest, Kind::Interrupted, Kind::Protocol] {
            assert!(retry.again(error(kind)).await.is_err());
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(retry.again(error(Kind::Timeout)).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn request_with_fallback_is_sent_once() {
        let mut retry = Retry::new(Duration::from_secs(20), Attempts::default().once());
        let start = Instant::now();
        assert!(retry.again(error(Kind::Unavailable)).await.is_err());
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[test]
    fn share_is_a_share() {
        assert!((0..1000).map(|_| random_share()).all(|share| (0.0..=1.0).contains(&share)));
    }
}

//! Limits of requests by each holder, and of wrong tokens.
//!
//! Entry types: [`Rates`], a bucket for each holder that fills at a steady rate; [`WrongTokens`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{bounds::Bounds, refusal::Refusal};

/// Time in which wrong tokens are counted.
pub const MINUTE: Duration = Duration::from_secs(60);
/// Holders above which those that are idle are forgotten.
const REMEMBERED: usize = 64;

#[derive(Debug)]
pub struct Rates {
    rate: u32,
    burst: f64,
    running: usize,
    holders: Mutex<HashMap<String, Usage>>,
}

#[derive(Debug)]
struct Usage {
    /// Requests that may follow at once, as of `at`.
    left: f64,
    at: Instant,
    running: usize,
}

/// A request of a holder under way.
#[derive(Debug)]
pub struct Running {
    rates: Arc<Rates>,
    holder: String,
}

impl Rates {
    pub fn new(bounds: &Bounds) -> Arc<Self> {
        let Bounds { rate, burst, running, .. } = *bounds;
        Arc::new(Self { rate, burst: f64::from(burst), running, holders: Mutex::default() })
    }

    /// Counts a request of the holder with this id.
    pub fn start(self: &Arc<Self>, holder: &str, now: Instant) -> Result<Running, Refusal> {
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if holders.len() > REMEMBERED {
            holders.retain(|_, it| it.running > 0 || self.left(it, now) < self.burst);
        }
        let new = Usage { left: self.burst, at: now, running: 0 };
        let usage = holders.entry(holder.to_owned()).or_insert(new);
        (usage.left, usage.at) = (self.left(usage, now), now);
        if usage.running >= self.running {
            return Err(Refusal::TooMany(self.running));
        }
        if usage.left < 1.0 {
            return Err(Refusal::TooFast(self.rate));
        }
        usage.left -= 1.0;
        usage.running += 1;
        Ok(Running { rates: Arc::clone(self), holder: holder.to_owned() })
    }

    fn left(&self, usage: &Usage, now: Instant) -> f64 {
        let filled = now.saturating_duration_since(usage.at).as_secs_f64() * f64::from(self.rate);
        (usage.left + filled).min(self.burst)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut holders = self.rates.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = holders.get_mut(&self.holder) {
            usage.running = usage.running.saturating_sub(1);
        }
    }
}

/// Times of the last minute's wrong tokens, up to a limit.
#[derive(Debug)]
pub struct WrongTokens {
    most: usize,
    times: Mutex<Vec<Instant>>,
}

impl WrongTokens {
    pub fn new(most: usize) -> Self {
        Self { most, times: Mutex::default() }
    }

    /// Counts a wrong token; false if the limit is reached.
    pub fn count(&self, now: Instant) -> bool {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.retain(|at| now.saturating_duration_since(*at) < MINUTE);
        let is_within = times.len() < self.most;
        if is_within {
            times.push(now);
        }
        is_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(bounds: &Bounds) -> (Arc<Rates>, Instant) {
        (Rates::new(bounds), Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn holder_has_a_burst_then_a_rate() {
        let bounds = Bounds { rate: 10, burst: 3, ..Default::default() };
        let (rates, now) = rates(&bounds);
        let at = |time: Instant| rates.start("a", time).map(drop);
        assert_eq!([at(now), at(now), at(now)], [Ok(()), Ok(()), Ok(())]);
        assert_eq!(at(now), Err(Refusal::TooFast(10)));
        assert_eq!(rates.start("b", now).map(drop), Ok(()), "another holder");
        let later = now + Duration::from_millis(101);
        assert_eq!([at(later), at(later)], [Ok(()), Err(Refusal::TooFast(10))]);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_under_way_are_counted() {
        let (rates, now) = rates(&Bounds { running: 1, ..Default::default() });
        let first = rates.start("a", now).unwrap();
        assert_eq!(rates.start("a", now).map(drop), Err(Refusal::TooMany(1)));
        drop(first);
        assert_eq!(rates.start("a", now).map(drop), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn idle_holders_are_forgotten() {
        let (rates, now) = rates(&Bounds::default());
        for holder in 0..1_000 {
            let _ = rates.start(&holder.to_string(), now + Duration::from_secs(holder));
        }
        assert!(rates.holders.lock().unwrap().len() <= REMEMBERED + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_are_too_many_for_a_minute() {
        let (wrong, now) = (WrongTokens::new(2), Instant::now());
        assert!(wrong.count(now) && wrong.count(now));
        assert!(!wrong.count(now + MINUTE / 2));
        assert!(wrong.count(now + MINUTE));
    }
}

//! The time for which this node may serve a shard of the gateway.
//!
//! Entry type: [`Tenure`], shared by the shard's guilds and their sound. It ends for good: a lease
//! that returns later begins another. **Never**: asks the store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A hundred years, which a count of nanoseconds holds.
const ENDLESS: Duration = Duration::from_secs(3_153_600_000);

/// Lasts until its deadline, unless it is extended or ended before. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Tenure(Arc<State>);

#[derive(Debug)]
struct State {
    began: Instant,
    /// Nanoseconds from `began` to the deadline; 0: ended. An atomic, because songbird's threads
    /// read it for each frame.
    lasts: AtomicU64,
    ended: CancellationToken,
    /// It was ended after its deadline.
    is_late: AtomicBool,
}

impl Tenure {
    /// Begins at `now` and lasts until the deadline `until`.
    pub fn new(now: Instant, until: Instant) -> Self {
        let lasts = AtomicU64::new(nanos(now, until));
        let (ended, is_late) = (CancellationToken::new(), AtomicBool::new(false));
        Self(Arc::new(State { began: now, lasts, ended, is_late }))
    }

    /// For a process that serves alone.
    pub fn endless() -> Self {
        let now = Instant::now();
        Self::new(now, now + ENDLESS)
    }

    /// True before the deadline.
    pub fn holds(&self, now: Instant) -> bool {
        now < self.deadline()
    }

    /// Moves the deadline to `until`, never back; false if it is over at `now`.
    pub fn extend(&self, now: Instant, until: Instant) -> bool {
        let State { began, lasts, .. } = &*self.0;
        let before = lasts.load(Ordering::Relaxed);
        let after = nanos(*began, until).max(before);
        now < self.at(before)
            // Fails if it was ended meanwhile.
            && lasts.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    pub fn end(&self) {
        let lasted = self.0.lasts.swap(0, Ordering::Relaxed);
        if lasted > 0 && Instant::now() >= self.at(lasted) {
            self.0.is_late.store(true, Ordering::Relaxed);
        }
        self.0.ended.cancel();
    }

    /// True if its deadline passed before it was ended.
    pub fn has_expired(&self, now: Instant) -> bool {
        let lasts = self.0.lasts.load(Ordering::Relaxed);
        self.0.is_late.load(Ordering::Relaxed) || (lasts > 0 && now >= self.at(lasts))
    }

    /// Waits until it is over. Cancel safe.
    pub async fn over(&self) {
        while self.holds(Instant::now()) {
            tokio::select! {
                () = sleep_until(self.deadline()) => {}
                () = self.0.ended.cancelled() => return,
            }
        }
    }

    fn deadline(&self) -> Instant {
        self.at(self.0.lasts.load(Ordering::Relaxed))
    }

    fn at(&self, lasts: u64) -> Instant {
        self.0.began + Duration::from_nanos(lasts)
    }
}

fn nanos(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn tenure_lasts_as_long_as_it_is_extended() {
        let began = Instant::now();
        let tenure = Tenure::new(began, began + 6 * SECOND);
        let extending = async {
            for second in 1..5 {
                tokio::time::sleep(SECOND).await;
                let until = began + (6 + second) * SECOND;
                assert!(tenure.extend(Instant::now(), until), "{second}");
            }
            assert!(tenure.extend(Instant::now(), began + SECOND), "never moves back");
        };
        tokio::join!(extending, tenure.over());
        assert_eq!(began.elapsed(), 10 * SECOND);
        assert!(!tenure.holds(Instant::now()) && tenure.has_expired(Instant::now()));
        tenure.end();
        assert!(tenure.has_expired(Instant::now()), "that it is ended then changes nothing");
        assert!(!tenure.extend(Instant::now(), began + 60 * SECOND), "it is over for good");
    }

    #[tokio::test(start_paused = true)]
    async fn ended_tenure_is_over_at_once() {
        let began = Instant::now();
        let tenure = Tenure::new(began, began + 6 * SECOND);
        tokio::join!(tenure.over(), async { tenure.end() });
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(!tenure.extend(began, began + 6 * SECOND));
        assert!(!tenure.holds(began) && !tenure.has_expired(began + 60 * SECOND));
    }
}

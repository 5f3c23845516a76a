//! Watches that a table's task returns to its loop.
//!
//! Entry type: [`Pulse`]. A task that waits or computes inside one poll can be neither cancelled
//! nor aborted, and takes one of the runtime's threads. So others look from outside: the pulse
//! notes when a poll began, and a table whose poll lasts [`BLOCKED_AFTER`] counts as blocked.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    time::Instant,
};

/// Longest poll of a table that still counts as work; an ordinary one takes less than a frame
/// (20 ms).
pub const BLOCKED_AFTER: Duration = Duration::from_secs(10);

/// Start of the poll in progress of a table's task. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Pulse(Arc<Mutex<Option<Instant>>>);

impl Pulse {
    /// Runs `work` while noting its polls.
    pub async fn over<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            let _poll = Poll::begin(&self);
            work.as_mut().poll(context)
        })
        .await
    }

    /// True if the poll in progress is too long at `now`.
    pub fn is_blocked(&self, now: Instant) -> bool {
        self.began().is_some_and(|began| now.duration_since(began) >= BLOCKED_AFTER)
    }

    fn began(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A poll in progress, also when it panics.
struct Poll<'a>(&'a Pulse);

impl<'a> Poll<'a> {
    fn begin(pulse: &'a Pulse) -> Self {
        *pulse.began() = Some(Instant::now());
        Self(pulse)
    }
}

impl Drop for Poll<'_> {
    fn drop(&mut self) {
        *self.0.began() = None;
    }
}

/// Call it after waking tasks that must run even if the current task blocks.
///
/// The task that a runtime's thread has woken last is the only one that other threads can't take
/// over. This makes it an empty one.
pub fn release_woken() {
    if let Ok(runtime) = Handle::try_current()
        && runtime.runtime_flavor() == RuntimeFlavor::MultiThread
    {
        drop(runtime.spawn(async {}));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_task_is_not_blocked() {
        let pulse = Pulse::default();
        let table = tokio::spawn(pulse.clone().over(sleep(2 * BLOCKED_AFTER)));
        sleep(BLOCKED_AFTER).await;
        assert!(!pulse.is_blocked(Instant::now() + BLOCKED_AFTER));
        table.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn task_in_one_poll_for_too_long_is_blocked() {
        let pulse = Pulse::default();
        let seen = pulse.clone();
        let work = async move {
            let began = Instant::now();
            let almost = BLOCKED_AFTER.saturating_sub(Duration::from_millis(1));
            (seen.is_blocked(began + almost), seen.is_blocked(began + BLOCKED_AFTER))
        };
        assert_eq!(pulse.clone().over(work).await, (false, true));
        advance(BLOCKED_AFTER).await;
        assert!(!pulse.is_blocked(Instant::now()), "the poll has ended");
    }

    #[tokio::test]
    async fn panic_ends_the_poll() {
        let pulse = Pulse::default();
        let table = tokio::spawn(pulse.clone().over(async { panic!("a fault") }));
        let ended: Result<(), _> = table.await;
        assert!(ended.is_err());
        assert!(!pulse.is_blocked(Instant::now() + BLOCKED_AFTER));
    }
}

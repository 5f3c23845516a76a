//! Caught panics: their places and their frequency.
//!
//! Entry functions: [`caught`], [`caught_now`]; [`Panics`] counts them. **Never**: keeps a panic's
//! message, which may quote a person.

use std::{
    cell::RefCell,
    collections::VecDeque,
    panic::{self, AssertUnwindSafe},
    sync::Once,
    time::Duration,
};

use futures::FutureExt;
use tokio::time::Instant;

/// Panics within [`WINDOW`] after which the work is not restarted.
const MOST: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);
/// Wait after the first panic; each further one quadruples it.
const FIRST_WAIT: Duration = Duration::from_millis(100);

thread_local! {
    /// Place of this thread's last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fault of the program at {0}")]
pub struct Panicked(pub String);

/// Awaits `work`; fails with the place of its panic, after which borrowed data may be half-changed.
/// Cancel safe if `work` is.
pub async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    note_places();
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| here())
}

/// Runs `work`, which must not block; fails with the place of its panic, after which borrowed data
/// may be half-changed.
pub fn caught_now<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    note_places();
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| here())
}

/// Makes every panic note its place before the previous hook runs.
fn note_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = info.location().map_or_else(|| "?".to_owned(), ToString::to_string);
            PLACE.with_borrow_mut(|last| *last = place);
            before(info);
        }));
    });
}

/// Takes the place of this thread's last panic; unwinding stays on its thread.
fn here() -> Panicked {
    Panicked(PLACE.with_borrow_mut(std::mem::take))
}

#[derive(Debug, Default)]
pub struct Panics(VecDeque<Instant>);

impl Panics {
    /// Counts a panic at `now`; returns the wait before a restart, or `None` after too many.
    pub fn count(&mut self, now: Instant) -> Option<Duration> {
        self.0.retain(|at| now.duration_since(*at) < WINDOW);
        self.0.push_back(now);
        let before = u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX);
        (self.0.len() < MOST).then(|| FIRST_WAIT * 4_u32.saturating_pow(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaks(what: &str) {
        panic!("{what}");
    }

    #[tokio::test]
    async fn panics_report_their_place_not_their_words() {
        let panicked: Result<(), _> = caught(async { breaks("Anna said something") }).await;
        let why = panicked.unwrap_err();
        assert!(why.0.starts_with("src/panics.rs:"), "{why}");
        assert!(!why.to_string().contains("Anna"));
        assert_eq!(caught(async { 7 }).await, Ok(7));
        assert!(caught_now(|| breaks("again")).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn three_within_a_minute_are_too_many() {
        let mut panics = Panics::default();
        let now = Instant::now();
        assert_eq!(panics.count(now), Some(Duration::from_millis(100)));
        assert_eq!(panics.count(now), Some(Duration::from_millis(400)));
        assert_eq!(panics.count(now + Duration::from_secs(59)), None);
        assert_eq!(panics.count(now + Duration::from_secs(180)), Some(FIRST_WAIT));
    }
}

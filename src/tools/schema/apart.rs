//! Runs expensive work on foreign input off the runtime, on threads with large stacks. All such
//! work has a bound of steps (`bounds.rs`), so a late thread still ends. At most [`CHECKS_AT_ONCE`]
//! jobs of [`within`] and [`at_leisure`] run at once; a caller with much work requeues for each
//! piece.

use std::{thread, time::Duration};

use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

/// Concurrent jobs; others queue within their own deadline.
const CHECKS_AT_ONCE: usize = 2;
/// Stack size; only used pages take memory.
const STACK: usize = 256 * 1024 * 1024;
const NAME: &str = "schema";

static CHECKS: Semaphore = Semaphore::const_new(CHECKS_AT_ONCE);
static LEISURELY: Semaphore = Semaphore::const_new(CHECKS_AT_ONCE);

/// The result of `work` within `limit`. A late thread ends by itself and only then frees its place.
pub async fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    timeout(limit, run(&CHECKS, work)).await.ok().flatten()
}

/// The result of `work` without a limit. `None`: it panicked, or no thread could start.
pub async fn at_leisure<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    run(&LEISURELY, work).await
}

async fn run<T: Send + 'static>(
    allowed: &'static Semaphore,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let permit = allowed.acquire().await.ok()?;
    let waited = spawn_blocking(move || {
        let _permit = permit;
        on_large_stack(work)
    });
    waited.await.ok().flatten()
}

/// Blocks for the result of `work`. `None`: no thread could start.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name(NAME.to_owned()).stack_size(STACK);
        builder.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

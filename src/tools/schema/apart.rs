//! Work on what others have written, away from the runtime: on a thread with a stack of its own.
//!
//! Entry functions: [`within`], [`at_leisure`], [`on_large_stack`]. Work here has a bound of steps
//! (`bounds.rs`: parts, depth, what references unfold to, expressions of linear time), so a thread whose
//! deadline is over still ends, and none needs a process that could be killed. Each of the first two runs at
//! most [`CHECKS_AT_ONCE`]; a caller with much to do comes back for each piece of it.
//! **Never**: leaves a thread behind that does not end.

use std::{thread, time::Duration};

use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

/// Checks that run at once; others wait for one of these within their own deadline.
const CHECKS_AT_ONCE: usize = 2;
/// Stack of such a thread; only what is used of it takes memory.
const STACK: usize = 256 * 1024 * 1024;
/// Name of its threads.
const NAME: &str = "schema";

static CHECKS: Semaphore = Semaphore::const_new(CHECKS_AT_ONCE);
static LEISURELY: Semaphore = Semaphore::const_new(CHECKS_AT_ONCE);

/// The result of `work` if there is one within `limit`. A thread that is late ends by itself and is
/// then free for others.
pub async fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    timeout(limit, run(&CHECKS, work)).await.ok().flatten()
}

/// The result of `work`, however long that takes. `None`: it panicked, or there was no thread.
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

/// The result of `work`, waited for on this thread. `None`: there was no thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name(NAME.to_owned()).stack_size(STACK);
        builder.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

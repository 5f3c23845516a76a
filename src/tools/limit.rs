//! Time limit of a call. Signs of life extend it up to a fixed end.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Progress;

#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Longest time without an answer or a sign of life.
    pub quiet: Duration,
    pub until: Instant,
}

impl Limit {
    /// Ends `max` after `started`; signs of life do not extend it.
    pub fn hard(max: Duration, started: Instant) -> Self {
        Self { quiet: max, until: started + max }
    }

    /// The output of `answer` within the limit; `Err`: the time from `started` to the limit. Each
    /// sign of life restarts the quiet period. Cancel safe if `answer` is.
    pub async fn hold<T>(
        self,
        started: Instant,
        progress: &Progress,
        answer: impl Future<Output = T>,
    ) -> Result<T, Duration> {
        tokio::pin!(answer);
        let mut deadline = self.until.min(started + self.quiet);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(answer),
                // Polled before the clock: on a busy machine both may be ready.
                () = progress.noted() => {
                    let now = Instant::now();
                    if now >= self.until {
                        return Err(self.until - started);
                    }
                    deadline = self.until.min(now + self.quiet);
                }
                () = sleep_until(deadline) => return Err(deadline - started),
            }
        }
    }
}

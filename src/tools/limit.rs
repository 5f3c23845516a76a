//! How long a call may take.
//!
//! Entry type: [`Limit`]. **Never**: lets a call outlast its end, whatever it says of itself.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Progress;

/// How long a call may take.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Longest time without an answer or a sign of life.
    pub quiet: Duration,
    /// The end in any case.
    pub until: Instant,
}

impl Limit {
    /// `max` from `started` on, signs of life or not.
    pub fn hard(max: Duration, started: Instant) -> Self {
        Self { quiet: max, until: started + max }
    }

    /// What `answer` comes to, if it comes in time: each sign of life is worth another while.
    /// Cancel safe where `answer` is.
    ///
    /// # Errors
    /// How long it waited without an answer.
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
                // Before the clock: on a busy machine both may have come meanwhile.
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

//! The host's background work, for as long as the program runs.
//!
//! Entry: [`ToolHost::tend`]. **Never**: holds up a call.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::ToolHost;

/// Interval at which tools with old failures are let back in.
const AGEING: Duration = Duration::from_secs(5);

impl ToolHost {
    /// Lets tools back in whose failures are long ago, and has new tools embedded; runs until
    /// `stop`.
    pub async fn tend(&self, stop: CancellationToken) {
        tokio::join!(self.age(&stop), self.embed_tools(&stop));
    }

    async fn age(&self, stop: &CancellationToken) {
        let mut ticks = interval(AGEING);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            self.inner.catalog.refresh(Instant::now());
        }
    }
}

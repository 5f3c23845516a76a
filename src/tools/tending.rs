//! Background work of the host.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::ToolHost;

/// Interval at which tools with old failures return.
const AGEING: Duration = Duration::from_secs(5);

impl ToolHost {
    /// Lets tools with old failures return, and embeds new tools, until `stop`.
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

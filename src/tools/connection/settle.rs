//! Measures whether a server over HTTP is faster on kept connections or on a new one for each request.
//!
//! Entry function: [`settle`]. **Never**: calls a tool.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    client::{Client, Era},
    http_client::HttpClient,
};

/// Requests that show whether kept connections are slow; the last four count.
const KEPT: Pings = Pings { sent: 14, counted: 4 };
/// Requests that show how fast fresh connections are; all count.
const FRESH: Pings = Pings { sent: 2, counted: 2 };
/// A kept connection this slow meets a delayed acknowledgement.
const STALL: Duration = Duration::from_millis(30);

/// Number of requests sent, and number of the last ones that count.
#[derive(Clone, Copy)]
struct Pings {
    sent: usize,
    counted: usize,
}

/// The result of a future that never completes.
pub enum Never {}

/// Finds out once whether connections to a server that answers with streams are better kept: a
/// server that sends its answer in small pieces stalls a kept connection by a delayed
/// acknowledgement, which can be worse than a new connection for each request.
pub async fn settle(client: &Client, wire: Option<&HttpClient>) -> Never {
    if let Some(wire) = wire
        && client.era() == Era::Handshake
    {
        let kept = fastest(client, KEPT).await;
        if wire.has_streamed() && kept.is_some_and(|kept| kept > STALL) {
            wire.prefer_fresh(true);
            let fresh = fastest(client, FRESH).await;
            let better = fresh.zip(kept).is_some_and(|(fresh, kept)| fresh < kept);
            wire.prefer_fresh(better);
            tracing::debug!(?kept, ?fresh, better, "connections kept or fresh");
        }
    }
    std::future::pending().await
}

/// The fastest of the last of some requests.
async fn fastest(client: &Client, pings: Pings) -> Option<Duration> {
    let mut best = None;
    for number in 0..pings.sent {
        let before = Instant::now();
        if !client.ping().await {
            return None;
        }
        if number + pings.counted >= pings.sent {
            let took = before.elapsed();
            best = Some(best.map_or(took, |best: Duration| best.min(took)));
        }
    }
    best
}

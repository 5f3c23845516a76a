//! Measures whether an HTTP server is faster on pooled connections or on a new one for each
//! request.

use std::time::Duration;

use tokio::time::Instant;

use super::{
    client::{Client, Era},
    http_client::HttpClient,
};

/// Pings that detect slow pooled connections.
const KEPT: Pings = Pings { sent: 14, counted: 4 };
/// Pings that time fresh connections.
const FRESH: Pings = Pings { sent: 2, counted: 2 };
/// A pooled ping this slow hits a delayed acknowledgement.
const STALL: Duration = Duration::from_millis(30);

/// Number of pings, and of the last ones that count.
#[derive(Clone, Copy)]
struct Pings {
    sent: usize,
    counted: usize,
}

/// Result of a future that never completes.
pub enum Never {}

/// Decides once whether to pool connections to a server that answers with streams: a server that
/// sends its answer in small pieces stalls a pooled connection by delayed acknowledgements, which
/// can cost more than a new connection.
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

/// The fastest of the counted pings.
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

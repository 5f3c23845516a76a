//! Requests of this node to the store: renewals, shards given back, and other nodes.
//!
//! Entry type: [`Leasing`]. Each has a longest wait, so that a hanging connection holds up nothing.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    campaign::{Lease, Leases, Node, NodeStatus, Served, StoreError},
    discord::rest::Fatal,
    figures::Figures,
};

/// Longest wait for the store before a process that serves alone starts without its answer.
const ALONE_PATIENCE: Duration = Duration::from_secs(5);

/// Interval of renewals: three may fail in the life `ttl` of a lease.
pub fn renewed_every(ttl: Duration) -> Duration {
    ttl / 4
}

/// This node among others on one store.
pub struct Sharing {
    /// Its tables are counted at each renewal.
    pub node: Node,
    /// Life of its leases that are not renewed; others may have another.
    pub ttl: Duration,
}

impl Sharing {
    /// Longest wait for the store, so that a hanging connection leaves time for another renewal.
    pub fn patience(&self) -> Duration {
        self.ttl / 3
    }
}

/// What shards are leased with.
pub struct Leasing {
    pub leases: Arc<dyn Leases>,
    pub sharing: Sharing,
    /// Shards that may identify at once, at least one.
    pub buckets: u32,
    /// Discord servers with a session now.
    pub playing: Box<dyn Fn() -> Vec<u64> + Send + Sync>,
    /// How many shards are connected to Discord's gateway now.
    pub connected: Box<dyn Fn() -> u32 + Send + Sync>,
    /// Discord servers whose session was refused because this node is full.
    pub refused: mpsc::Receiver<u64>,
    /// Learns of the shards that are held.
    pub served: Served,
    pub figures: Figures,
    /// Set before shards are closed while other nodes live, which go on with their sessions: when
    /// shards are closed by.
    pub hand_over_by: Arc<OnceLock<Instant>>,
}

pub struct Renewal {
    pub sent: Instant,
    pub answer: Result<Vec<Lease>, StoreError>,
    /// All nodes, if they were asked for.
    pub nodes: Option<Vec<NodeStatus>>,
}

impl Leasing {
    /// This node as it is now.
    pub fn node(&self, is_cut_off: bool) -> Node {
        let tables = u32::try_from((self.playing)().len()).unwrap_or(u32::MAX);
        Node { tables, connected: (self.connected)(), is_cut_off, ..self.sharing.node.clone() }
    }

    /// The renewal at `at`, with free shards if `takes`, and with a look at all nodes if `looks`.
    pub fn renewal(
        &self,
        node: Node,
        at: Instant,
        takes: bool,
        looks: bool,
    ) -> BoxFuture<'static, Renewal> {
        let leases = Arc::clone(&self.leases);
        let (ttl, patience) = (self.sharing.ttl, self.sharing.patience());
        async move {
            sleep_until(at).await;
            let sent = Instant::now();
            let answer = timeout(patience, leases.renew(node, ttl, takes)).await;
            let late = || StoreError::Away(format!("no answer for {} ms", patience.as_millis()));
            let answer = answer.unwrap_or_else(|_| Err(late()));
            let nodes = match looks && answer.is_ok() {
                true => timeout(patience, leases.nodes()).await.ok().and_then(Result::ok),
                false => None,
            };
            Renewal { sent, answer, nodes }
        }
        .boxed()
    }

    /// Gives shards back; they expire if the store does not answer.
    pub async fn give_back(&self, shards: Vec<u32>, patience: Duration) {
        // Lines that are still to be written were said before.
        self.served.release(&shards);
        let run = self.sharing.node.run.clone();
        match timeout(patience, self.leases.give_back(run, shards)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot give back shards"),
            Err(_) => tracing::warn!("cannot give back shards: the store does not answer"),
        }
    }

    /// True if other nodes live, or the store does not say: a session that no other node goes on
    /// with goes on at the next start, and one that was ended never.
    pub async fn has_others(&self, patience: Duration) -> bool {
        let run = &self.sharing.node.run;
        match timeout(patience, self.leases.nodes()).await {
            Ok(Ok(nodes)) => nodes.iter().any(|it| it.node.run != *run && !it.is_gone),
            _ => true,
        }
    }
}

/// Fails if a node shares the store: this process, which serves alone, would serve the same servers
/// beside it. A store that does not answer stops no process.
pub async fn check_alone(leases: &dyn Leases) -> Result<(), Fatal> {
    let Ok(Ok(nodes)) = timeout(ALONE_PATIENCE, leases.nodes()).await else { return Ok(()) };
    let Some(other) = nodes.iter().find(|it| !it.is_gone) else { return Ok(()) };
    Err(Fatal::Leases(format!(
        "node '{}' runs on the same database, and both would play at the same tables (set 'cluster' \
         as it has, or use --node; or end all nodes first; another bot needs its own database, named \
         in 'memory.url')",
        other.node.name
    )))
}

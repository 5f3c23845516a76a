//! Leases of shards of Discord's gateway, one node for each, and slots in which shards identify.
//!
//! Entry trait: [`Leases`]. Time is the store's own; a holder counts its own deadline from before it
//! asked. **Never**: leaves a shard to two owners.

use std::time::Duration;

use super::StoreFuture;

/// Shortest time between two identifies of one bucket: Discord's 5 s, and time to connect, of which
/// one may need more than the next.
pub const IDENTIFY_APART: Duration = Duration::from_millis(5_500);

/// Default life of a lease that is not renewed.
pub const LEASE_TTL: Duration = Duration::from_secs(6);

/// Discord's shard of a server; 0 if there are no shards.
pub fn shard_of(guild: u64, shards: u32) -> u32 {
    let shard = (guild >> 22).checked_rem(u64::from(shards)).unwrap_or_default();
    u32::try_from(shard).unwrap_or_default()
}

/// The most shards that one of `nodes` living nodes may take: all divided by nodes, rounded up.
pub fn fair_share(shards: u32, nodes: u64) -> u64 {
    u64::from(shards).div_ceil(nodes.max(1))
}

/// A process that serves shards, as it describes itself at each renewal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name for people; the host's by default. Several nodes may share it.
    pub name: String,
    /// This run of the program: random, so that a restarted process is another owner.
    pub run: String,
    /// Version of the program.
    pub build: String,
    /// Shards of the whole bot; the same for all nodes.
    pub shards: u32,
    /// Tables with a session now.
    pub tables: u32,
    /// Most tables with a session at once; `None`: no limit.
    pub capacity: Option<u32>,
    /// Discord's id of the bot's application; 0: unknown.
    pub application: u64,
    /// Shards that are connected to Discord's gateway now.
    pub connected: u32,
    /// It has left its shards to others, because none was connected, and takes none for now.
    pub is_cut_off: bool,
}

impl Node {
    /// True if it takes no further session.
    pub fn is_full(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.tables >= capacity)
    }

    /// Most shards that it takes beside `others` living nodes that are not cut off, of which `open`
    /// are not full: full nodes count only if all are full.
    pub fn share(&self, others: u64, open: u64) -> u64 {
        match (self.is_full(), open) {
            (true, 0) => fair_share(self.shards, others.saturating_add(1)),
            (true, _) => 0,
            (false, _) => fair_share(self.shards, open.saturating_add(1)),
        }
    }
}

/// A shard held by the node that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lease {
    pub shard: u32,
    /// Grows with each owner.
    pub epoch: u64,
}

/// A node as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatus {
    pub node: Node,
    /// Since its last renewal.
    pub seen_ago: Duration,
    /// It has not renewed for longer than its leases last.
    pub is_gone: bool,
    pub leases: Vec<Lease>,
}

pub trait Leases: Send + Sync {
    /// Notes that `node` lives, extends its leases to `ttl` from now, and takes free shards up to
    /// its [`fair_share`] among those that are not full if `takes`; a full node takes none while
    /// another is not full. Returns all that it holds, by shard. Fails with
    /// [`Error::Asked`](super::Error::Asked) if living nodes have another number of shards or serve
    /// another bot, and with [`Error::Newer`](super::Error::Newer) if the store was updated beyond
    /// this program while the node was gone. From now on this store refuses writes for servers whose
    /// shard is not held.
    fn renew(&self, node: Node, ttl: Duration, takes: bool) -> StoreFuture<'_, Vec<Lease>>;

    /// Ends leases of the run `run` at once; other shards are ignored. A run that holds none then
    /// counts as ended until it renews again.
    fn give_back(&self, run: String, shards: Vec<u32>) -> StoreFuture<'_, ()>;

    /// Reserves the next identify of a bucket (shard modulo Discord's `max_concurrency`): two of one
    /// bucket are 5.5 s apart over all nodes. Returns the wait until it may be sent.
    fn identify(&self, bucket: u32) -> StoreFuture<'_, Duration>;

    /// Nodes that renewed within a minute or hold a lease, by name and run.
    fn nodes(&self) -> StoreFuture<'_, Vec<NodeStatus>>;
}

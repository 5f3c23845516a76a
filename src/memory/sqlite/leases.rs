//! All shards for the one process.
//!
//! Entry: [`Leases`] of [`Sqlite`]. Nothing is stored: no other process takes part.

use std::{
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::ready};
use tokio::time::Instant;

#[cfg(test)]
use super::super::{Error, Scope};
use super::{
    super::{IDENTIFY_APART, Lease, Leases, Node, NodeStatus, StoreFuture},
    store::{OneNode, Sqlite},
};

impl Leases for Sqlite {
    fn renew(&self, node: Node, _ttl: Duration, takes: bool) -> StoreFuture<'_, Vec<Lease>> {
        let mut own = self.own_node();
        if takes {
            own.leases = (0..node.shards).map(|shard| Lease { shard, epoch: 1 }).collect();
        }
        own.renewed = Some((node, Instant::now()));
        ready(Ok(own.leases.clone())).boxed()
    }

    fn give_back(&self, _run: String, shards: Vec<u32>) -> StoreFuture<'_, ()> {
        let mut own = self.own_node();
        own.leases.retain(|lease| !shards.contains(&lease.shard));
        if own.leases.is_empty() {
            own.renewed = None;
        }
        ready(Ok(())).boxed()
    }

    fn identify(&self, bucket: u32) -> StoreFuture<'_, Duration> {
        let now = Instant::now();
        let mut own = self.own_node();
        let next = own.identifies.entry(bucket).or_insert(now);
        let at = now.max(*next);
        *next = at + IDENTIFY_APART;
        ready(Ok(at.duration_since(now))).boxed()
    }

    fn nodes(&self) -> StoreFuture<'_, Vec<NodeStatus>> {
        let own = self.own_node();
        let status = own.renewed.as_ref().map(|(node, at)| NodeStatus {
            node: node.clone(),
            seen_ago: at.elapsed(),
            // It is the one that asks.
            is_gone: false,
            leases: own.leases.clone(),
        });
        ready(Ok(status.into_iter().collect())).boxed()
    }
}

impl Sqlite {
    /// Makes lines of Discord servers fail as if another process served them, or succeed again.
    #[cfg(test)]
    pub fn set_fenced(&self, is_fenced: bool) {
        self.own_node().is_fenced = is_fenced;
    }

    /// The error of a line that is refused.
    #[cfg(test)]
    pub(super) fn refusal(&self, scope: &Scope) -> Option<Error> {
        let is_fenced = self.own_node().is_fenced;
        scope.owner.guild().filter(|_| is_fenced).map(Error::Fenced)
    }

    fn own_node(&self) -> MutexGuard<'_, OneNode> {
        self.node.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

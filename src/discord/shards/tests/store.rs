//! A stand-in for PostgreSQL. Entry type: [`Store`].

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::{Instant, sleep};

use crate::campaign::{Lease, Leases, Node, NodeStatus, StoreError};

pub const TTL: Duration = Duration::from_secs(6);
/// Way of a request to the store.
const WAY: Duration = Duration::from_millis(100);
pub const SLOT: Duration = Duration::from_secs(5);

pub struct Row {
    pub run: String,
    pub epoch: u64,
    pub expires: Instant,
}

#[derive(Default)]
pub struct Tables {
    pub is_away: bool,
    /// Updated beyond these processes.
    pub is_newer: bool,
    pub nodes: BTreeMap<String, (Node, Instant)>,
    pub leases: BTreeMap<u32, Row>,
    slots: BTreeMap<u32, Instant>,
    /// Of each run: held by the request that writes to its row.
    rows: BTreeMap<String, Arc<tokio::sync::Mutex<()>>>,
}

impl Tables {
    fn row(&mut self, run: &str) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.rows.entry(run.to_owned()).or_default())
    }

    pub fn held(&self, run: &str) -> Vec<Lease> {
        let now = Instant::now();
        let held = self.leases.iter().filter(|(_, row)| row.run == run && row.expires > now);
        held.map(|(shard, row)| Lease { shard: *shard, epoch: row.epoch }).collect()
    }

    fn living(&self, ttl: Duration) -> Vec<&Node> {
        let living = self.nodes.values().filter(|(_, seen)| seen.elapsed() <= ttl);
        living.map(|(node, _)| node).collect()
    }
}

/// Leases as PostgreSQL gives them out.
#[derive(Default)]
pub struct Store(Mutex<Tables>);

impl Store {
    pub fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reached(&self) -> Result<MutexGuard<'_, Tables>, StoreError> {
        let tables = self.tables();
        match tables.is_away {
            true => Err(StoreError::Away("connection refused".to_owned())),
            false => Ok(tables),
        }
    }
}

impl Leases for Store {
    fn renew(
        &self,
        node: Node,
        ttl: Duration,
        takes: bool,
    ) -> BoxFuture<'_, Result<Vec<Lease>, StoreError>> {
        async move {
            let row = self.tables().row(&node.run);
            let _locked = row.lock().await;
            sleep(WAY).await;
            let now = Instant::now();
            let mut tables = self.reached()?;
            if tables.living(ttl).iter().any(|it| it.shards != node.shards) {
                return Err(StoreError::Asked("other processes have 4 shards".to_owned()));
            }
            let (run, shards) = (node.run.clone(), node.shards);
            if tables.is_newer && tables.living(ttl).iter().all(|it| it.run != run) {
                return Err(StoreError::Newer { found: 2, known: 1 });
            }
            tables.nodes.insert(run.clone(), (node.clone(), now));
            for Lease { shard, .. } in tables.held(&run) {
                tables.leases.get_mut(&shard).unwrap().expires = now + ttl;
            }
            let living = tables.living(ttl);
            let counts = |it: &&Node| it.run != run && !it.is_cut_off;
            let others: Vec<_> = living.into_iter().filter(counts).collect();
            let open = others.iter().filter(|it| !it.is_full()).count();
            let share = node.share(others.len() as u64, open as u64);
            let share = usize::try_from(share).unwrap();
            for shard in 0..shards {
                let before = tables.leases.get(&shard);
                let is_free = before.is_none_or(|row| row.expires <= now);
                if takes && is_free && tables.held(&run).len() < share {
                    let epoch = before.map_or(0, |row| row.epoch) + 1;
                    let row = Row { run: run.clone(), epoch, expires: now + ttl };
                    tables.leases.insert(shard, row);
                }
            }
            Ok(tables.held(&run))
        }
        .boxed()
    }

    fn give_back(&self, run: String, shards: Vec<u32>) -> BoxFuture<'_, Result<(), StoreError>> {
        async move {
            let row = self.tables().row(&run);
            let _locked = row.lock().await;
            let (now, mut tables) = (Instant::now(), self.reached()?);
            let given = tables.leases.iter_mut().filter(|(shard, _)| shards.contains(shard));
            given.filter(|(_, row)| row.run == run).for_each(|(_, row)| row.expires = now);
            Ok(())
        }
        .boxed()
    }

    fn identify(&self, bucket: u32) -> BoxFuture<'_, Result<Duration, StoreError>> {
        async move {
            let now = Instant::now();
            let mut tables = self.reached()?;
            let slot = tables.slots.get(&bucket).map_or(now, |slot| now.max(*slot));
            tables.slots.insert(bucket, slot + SLOT);
            Ok(slot - now)
        }
        .boxed()
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>> {
        async move {
            let tables = self.reached()?;
            let status = |(node, seen): &(Node, Instant)| NodeStatus {
                node: node.clone(),
                seen_ago: seen.elapsed(),
                is_gone: seen.elapsed() > TTL,
                leases: tables.held(&node.run),
            };
            Ok(tables.nodes.values().map(status).collect())
        }
        .boxed()
    }
}

//! The shards that are open here, each from its lease to the end of its task.
//!
//! Entry type: [`OpenShards`]. **Never**: asks the store, but for slots to identify.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{FutureExt, future::BoxFuture};
use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    identify::{IdentifySlot, Queues},
    leasing::Leasing,
};
use crate::{
    campaign::Lease,
    discord::{rest::Fatal, tenure::Tenure},
    figures::{Figures, LeaseLoss},
};

/// Begins to serve a shard.
pub type Start = Box<
    dyn Fn(Lease, Tenure, CancellationToken, IdentifySlot) -> BoxFuture<'static, Result<(), Fatal>>
        + Send,
>;

/// A shard and how its task has ended.
pub type Ended = Result<(u32, Result<(), Fatal>), JoinError>;

pub struct OpenShards {
    start: Start,
    queues: Queues,
    open: BTreeMap<u32, Open>,
    tasks: JoinSet<(u32, Result<(), Fatal>)>,
}

struct Open {
    epoch: u64,
    tenure: Tenure,
    close: CancellationToken,
    /// It has waited to identify, and connects.
    may_identify: Arc<AtomicBool>,
    /// The lease was lost, and that was counted, or it was given back.
    is_lost: bool,
}

impl Open {
    /// Counts the lease as lost, once, unless the shard was asked to close.
    fn lose(&mut self, loss: LeaseLoss, figures: &Figures) {
        if !self.close.is_cancelled() && !std::mem::replace(&mut self.is_lost, true) {
            figures.lease_lost(loss);
        }
    }
}

impl OpenShards {
    pub fn new(start: Start) -> Self {
        let (queues, open, tasks) = (Queues::default(), BTreeMap::new(), JoinSet::new());
        Self { start, queues, open, tasks }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// True if a shard has waited to identify, and may connect.
    pub fn is_trying(&self) -> bool {
        self.open.values().any(|open| open.may_identify.load(Ordering::Relaxed))
    }

    /// All open shards, the last one first.
    pub fn last_first(&self) -> impl Iterator<Item = u32> {
        self.open.keys().rev().copied()
    }

    /// Extends the tenures of shards whose lease goes on in `leases`, and ends the others.
    pub fn extend(&mut self, leases: &[Lease], now: Instant, until: Instant, figures: &Figures) {
        for (shard, open) in &mut self.open {
            let loss = match leases.iter().find(|it| it.shard == *shard) {
                // One whose tenure is over is counted when its task has ended.
                Some(lease) if lease.epoch == open.epoch => {
                    open.tenure.extend(now, until);
                    continue;
                }
                Some(_) => LeaseLoss::Expired,
                None => LeaseLoss::Taken,
            };
            open.tenure.end();
            open.lose(loss, figures);
        }
    }

    /// Starts the shard of a lease unless it is open: one that is still ending starts after that.
    pub fn start(&mut self, lease: Lease, tenure: Tenure, leasing: &Leasing) {
        let Lease { shard, epoch } = lease;
        if self.open.contains_key(&shard) {
            return;
        }
        let close = CancellationToken::new();
        let (is_lost, may_identify) = (false, Arc::<AtomicBool>::default());
        let (lasts, closing) = (tenure.clone(), close.clone());
        let connects = Arc::clone(&may_identify);
        let waiting = self.queues.wait(leasing, shard);
        let slot = async move {
            tokio::select! {
                biased;
                () = lasts.over() => return false,
                () = closing.cancelled() => return false,
                () = waiting => {}
            }
            connects.store(true, Ordering::Relaxed);
            true
        };
        let serving = (self.start)(lease, tenure.clone(), close.clone(), slot.boxed());
        self.open.insert(shard, Open { epoch, tenure, close, may_identify, is_lost });
        self.tasks.spawn(async move { (shard, serving.await) });
    }

    /// Asks a shard to close in order.
    pub fn close(&self, shard: u32) {
        if let Some(open) = self.open.get(&shard) {
            open.close.cancel();
        }
    }

    pub fn close_all(&self) {
        self.open.values().for_each(|open| open.close.cancel());
    }

    /// Ends all shards where they are.
    pub fn drop_all(&mut self) {
        for open in self.open.values_mut() {
            open.tenure.end();
            open.is_lost = true;
        }
    }

    /// Waits until the task of a shard has ended; `None`: none is open. Cancel safe.
    pub async fn next_ended(&mut self) -> Option<Ended> {
        self.tasks.join_next().await
    }

    /// Forgets a shard whose task has ended; returns it if it was closed. Fails if it has failed.
    pub fn forget(&mut self, ended: Ended, leasing: &Leasing) -> Result<Option<u32>, Fatal> {
        let (shard, ended) = ended.map_err(|lost| Fatal::SetUp(lost.to_string()))?;
        let mut open = self.open.remove(&shard);
        ended?;
        if let Some(open) = &mut open {
            if open.tenure.has_expired(Instant::now()) {
                open.lose(LeaseLoss::Expired, &leasing.figures);
            } else if leasing.served.is_refused(shard) {
                open.lose(LeaseLoss::Taken, &leasing.figures);
            }
        }
        Ok(open.filter(|open| open.close.is_cancelled()).map(|_| shard))
    }
}

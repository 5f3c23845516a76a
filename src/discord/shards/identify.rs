//! Slots in which shards may identify, which the store gives to all nodes.
//!
//! Entry type: [`Queues`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};

use super::leasing::{Leasing, renewed_every};
use crate::campaign::Leases;

/// Resolves when a shard may identify, at once; false: it must not any more.
pub type IdentifySlot = BoxFuture<'static, bool>;

/// Of each bucket: held by the shard that waits for its slot. The others reserve nothing yet,
/// because they may be given back first.
#[derive(Default)]
pub struct Queues(BTreeMap<u32, Arc<Mutex<()>>>);

impl Queues {
    /// Waits until `shard` may identify. Cancel safe.
    pub fn wait(
        &mut self,
        leasing: &Leasing,
        shard: u32,
    ) -> impl Future<Output = ()> + Send + use<> {
        let bucket = shard % leasing.buckets;
        let queue = Arc::clone(self.0.entry(bucket).or_default());
        let leases = Arc::clone(&leasing.leases);
        let retry = renewed_every(leasing.sharing.ttl);
        let figures = leasing.figures.clone();
        async move {
            let asked = Instant::now();
            let _first = queue.lock().await;
            sleep(reserve(&*leases, bucket, retry).await).await;
            figures.identify_waited(asked.elapsed());
        }
    }
}

/// Reserves the next slot of `bucket`: the wait for it. Asks again after `retry`.
async fn reserve(leases: &dyn Leases, bucket: u32, retry: Duration) -> Duration {
    loop {
        match leases.identify(bucket).await {
            Ok(wait) => return wait,
            Err(error) => {
                tracing::warn!(%error, bucket, "cannot ask when a shard may identify");
                sleep(retry).await;
            }
        }
    }
}

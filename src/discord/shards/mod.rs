//! The shards of the gateway that this node leases from the store.
//!
//! Entry function: [`serve`]. Leases are renewed four times in their life ([`Sharing::ttl`]), and
//! free ones taken; a shard starts when its lease came, once it may identify. A shard lasts as long
//! as a lease after the last successful renewal **was sent**, which is before the store gives it to
//! another node, however long the answer took. Its [`Tenure`] ends it even if a renewal hangs. A
//! lease that comes back is a new start. Every [`BALANCE_EVERY`] a node with more than its share
//! gives back shards without a session. A full node gives back at once the shard of a server whose
//! session it refused, if another has room. A node that is cut off from Discord gives back all
//! ([`Reach`]); their sessions go on elsewhere, as after a lost lease.

mod balance;
mod identify;
mod leasing;
mod open;
mod reach;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, time::Duration};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::{
    balance::given,
    leasing::Renewal,
    open::{OpenShards, Start},
    reach::Reach,
};
pub use self::{
    balance::{BALANCE_EVERY, surplus},
    identify::IdentifySlot,
    leasing::{Leasing, Sharing, check_alone, renewed_every},
};
use super::{rest::Fatal, tenure::Tenure};
use crate::campaign::{Lease, NodeStatus, StoreError, shard_of};

/// Longest time from the request to end until shards are given back, if other nodes live.
const HAND_OVER: Duration = Duration::from_secs(10);
/// Of it, the longest wait for the store at its beginning and at its end, each.
const HAND_OVER_PATIENCE: Duration = Duration::from_secs(1);

/// Serves leased shards until `stop`, then closes them and gives them back. `start` serves a shard
/// from its slot to identify until its tenure is over, or its token is cancelled, which asks it to
/// close in order. Fails with the first shard that fails, or if the store refuses this node.
pub async fn serve<S, F>(leasing: Leasing, start: S, stop: CancellationToken) -> Result<(), Fatal>
where
    S: Fn(Lease, Tenure, CancellationToken, IdentifySlot) -> F + Send + 'static,
    F: Future<Output = Result<(), Fatal>> + Send + 'static,
{
    let start: Start =
        Box::new(move |lease, tenure, close, slot| start(lease, tenure, close, slot).boxed());
    let mut shards = Shards {
        leasing,
        open: OpenShards::new(start),
        held: Vec::new(),
        has_renewed: false,
        is_failing: false,
        balanced_at: Instant::now(),
        reach: Reach::default(),
        refused: BTreeSet::new(),
    };
    let ended = shards.run(&stop).await;
    shards.close().await;
    ended
}

/// Like [`serve`], of the only shard of a bot that this process serves alone.
pub async fn serve_alone<S, F>(start: S, stop: CancellationToken) -> Result<(), Fatal>
where
    S: FnOnce(Lease, Tenure, CancellationToken, IdentifySlot) -> F,
    F: Future<Output = Result<(), Fatal>>,
{
    start(Lease { shard: 0, epoch: 0 }, Tenure::endless(), stop, ready(true).boxed()).await
}

struct Shards {
    leasing: Leasing,
    open: OpenShards,
    /// Shards of the last successful renewal.
    held: Vec<u32>,
    has_renewed: bool,
    is_failing: bool,
    balanced_at: Instant,
    reach: Reach,
    /// Shards on which a session was refused since the last look at other nodes.
    refused: BTreeSet<u32>,
}

impl Shards {
    async fn run(&mut self, stop: &CancellationToken) -> Result<(), Fatal> {
        let mut renewal = self.renewal(Instant::now(), true);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                Some(ended) = self.open.next_ended() => {
                    if let Some(closed) = self.open.forget(ended, &self.leasing)? {
                        // One under way would keep the store from it, and may still name it.
                        drop(renewal);
                        let patience = self.leasing.sharing.patience();
                        self.leasing.give_back(vec![closed], patience).await;
                        renewal = self.renewal(Instant::now(), true);
                    }
                }
                done = &mut renewal => {
                    let next = self.next_renewal(done.sent);
                    self.take(done, true)?;
                    if self.reach.is_paused(Instant::now()) {
                        self.give_back_held(self.leasing.sharing.patience()).await;
                    }
                    renewal = self.renewal(next, true);
                }
                Some(guild) = self.leasing.refused.recv() => {
                    let is_first = self.refused.is_empty();
                    self.refused.insert(shard_of(guild, self.leasing.sharing.node.shards));
                    // Once for all until the next look, which would never come otherwise.
                    if is_first {
                        renewal = self.renewal(Instant::now(), true);
                    }
                }
            }
        }
    }

    /// Closes all shards in order, with their leases renewed meanwhile, and gives them back.
    async fn close(&mut self) {
        let by = Instant::now() + (HAND_OVER - HAND_OVER_PATIENCE);
        if !self.open.is_empty() && self.leasing.has_others(HAND_OVER_PATIENCE).await {
            // Nothing has set it before.
            let _ = self.leasing.hand_over_by.set(by);
        }
        self.open.close_all();
        let mut renewal = self.renewal(Instant::now(), false);
        loop {
            tokio::select! {
                biased;
                ended = self.open.next_ended() => {
                    let Some(ended) = ended else { break };
                    if let Err(error) = self.open.forget(ended, &self.leasing) {
                        tracing::error!(%error, "a shard has failed");
                    }
                }
                done = &mut renewal => {
                    renewal = self.renewal(self.next_renewal(done.sent), false);
                    // Nothing is refused any more.
                    let _ = self.take(done, false);
                }
            }
        }
        // One under way would keep the store from giving back.
        drop(renewal);
        self.give_back_held(HAND_OVER_PATIENCE).await;
    }

    /// The renewal at `at`, with free shards if `takes`.
    fn renewal(&mut self, at: Instant, takes: bool) -> BoxFuture<'static, Renewal> {
        let (is_cut_off, is_down) = (self.reach.is_paused(at), self.reach.is_down(at));
        let node = self.leasing.node(is_cut_off);
        let is_due = at >= self.balanced_at + BALANCE_EVERY || !self.refused.is_empty();
        let looks = takes && is_due && (node.shards > 1 || is_cut_off || is_down);
        if looks {
            self.balanced_at = at;
        }
        self.leasing.renewal(node, at, takes && !is_cut_off, looks)
    }

    fn next_renewal(&self, sent: Instant) -> Instant {
        sent + renewed_every(self.leasing.sharing.ttl)
    }

    /// Extends, ends and, if `starts`, starts shards. Fails if the store refuses this node.
    fn take(&mut self, renewal: Renewal, starts: bool) -> Result<(), Fatal> {
        let leases = match renewal.answer {
            Ok(leases) => leases,
            Err(StoreError::Asked(why)) if !self.has_renewed => {
                return Err(Fatal::Leases(why));
            }
            Err(error @ StoreError::Newer { .. }) => return Err(Fatal::Leases(error.to_string())),
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(%error, "cannot renew the leases of shards; trying again");
                }
                return Ok(());
            }
        };
        if std::mem::take(&mut self.is_failing) {
            tracing::info!("the leases of shards are renewed again");
        }
        self.has_renewed = true;
        self.leasing.figures.lease_renewed(renewal.sent);
        self.held = leases.iter().map(|lease| lease.shard).collect();
        self.count_held();
        let now = Instant::now();
        self.apply(&leases, renewal.sent, starts && !self.reach.is_paused(now));
        self.reach.note(now, (self.leasing.connected)(), self.open.is_trying());
        if let Some(nodes) = renewal.nodes {
            match self.reach.look(now, &nodes, &self.leasing.sharing.node) {
                true => self.drop_all(),
                false => self.balance(&nodes),
            }
        }
        Ok(())
    }

    /// Applies the leases of a renewal that was `sent` then.
    fn apply(&mut self, leases: &[Lease], sent: Instant, starts: bool) {
        let Leasing { sharing, served, figures, .. } = &self.leasing;
        let (now, until) = (Instant::now(), sent + sharing.ttl);
        served.hold(sharing.node.shards, self.held.iter().copied(), until);
        self.open.extend(leases, now, until, figures);
        if starts && now < until {
            for lease in leases {
                self.open.start(*lease, Tenure::new(now, until), &self.leasing);
            }
        }
    }

    /// Ends all shards where they are: other nodes reach Discord, and this one does not.
    fn drop_all(&mut self) {
        tracing::warn!("no shard here is connected to Discord: leaving all to other processes");
        self.refused.clear();
        self.open.drop_all();
    }

    /// Asks shards without a session to close, if other nodes should have them.
    fn balance(&mut self, nodes: &[NodeStatus]) {
        let node = &self.leasing.sharing.node;
        let playing = (self.leasing.playing)().into_iter();
        let busy: BTreeSet<u32> = playing.map(|guild| shard_of(guild, node.shards)).collect();
        let idle = self.open.last_first().filter(|shard| !busy.contains(shard));
        let refused = std::mem::take(&mut self.refused);
        for shard in given(nodes, node, idle.collect(), &refused) {
            tracing::info!(shard, "giving a shard to another process");
            self.open.close(shard);
        }
    }

    /// Gives back all shards that are held.
    async fn give_back_held(&mut self, patience: Duration) {
        let held = std::mem::take(&mut self.held);
        self.count_held();
        if !held.is_empty() {
            self.leasing.give_back(held, patience).await;
        }
    }

    fn count_held(&self) {
        let held = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.leasing.figures.set_shards(held, self.leasing.sharing.node.shards);
    }
}

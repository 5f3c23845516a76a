//! Owners that this process serves, where several share a memory.
//!
//! Entry type: [`Served`]. It serves all until shards of Discord are leased; then those of the
//! shards it holds, and with shard 0 what belongs to no server. **Never**: asks the store.

use std::collections::BTreeSet;

use tokio::{sync::watch, time::Instant};

use crate::{domain::Owner, memory::shard_of};

/// Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Served(watch::Sender<Shards>);

#[derive(Debug, Default)]
pub struct Shards {
    /// `None`: nothing is leased.
    leased: Option<Leased>,
    /// Shards that counted as held when the store refused a write.
    refused: BTreeSet<u32>,
}

#[derive(Debug)]
struct Leased {
    /// Shards of the whole bot.
    count: u32,
    held: BTreeSet<u32>,
    until: Instant,
}

impl Leased {
    fn holds(&self, shard: u32) -> bool {
        self.held.contains(&shard) && Instant::now() < self.until
    }
}

impl Served {
    /// From now to `until` exactly these of `count` shards are held.
    pub fn hold(&self, count: u32, shards: impl IntoIterator<Item = u32>, until: Instant) {
        let held: BTreeSet<u32> = shards.into_iter().collect();
        self.0.send_if_modified(|all| {
            all.refused.retain(|shard| !held.contains(shard));
            let now = Instant::now();
            let before = all.leased.as_ref().filter(|before| now < before.until);
            let is_same = before.is_some_and(|before| before.held == held);
            all.leased = Some(Leased { count, held, until });
            !is_same
        });
    }

    /// Call it before these shards are given back.
    pub fn release(&self, shards: &[u32]) {
        self.0.send_if_modified(|all| {
            let Some(leased) = &mut all.leased else { return false };
            let before = leased.held.len();
            leased.held.retain(|shard| !shards.contains(shard));
            leased.held.len() < before
        });
    }

    pub fn serves(&self, owner: Owner) -> bool {
        self.0.borrow().leased.as_ref().is_none_or(|leased| {
            let shard = owner.guild().map_or(0, |guild| shard_of(guild, leased.count));
            leased.holds(shard)
        })
    }

    /// Takes in that the store refused a line of `guild`, because another process serves it. False
    /// if this process knew, so that the line was said before; otherwise the shard is lost.
    pub fn refuse(&self, guild: u64) -> bool {
        let mut is_refused = false;
        self.0.send_if_modified(|all| {
            let Some(leased) = &mut all.leased else { return false };
            let shard = shard_of(guild, leased.count);
            let was_held = leased.holds(shard);
            if was_held {
                leased.held.remove(&shard);
                all.refused.insert(shard);
            }
            is_refused = all.refused.contains(&shard);
            was_held
        });
        is_refused
    }

    /// Waits until the store refuses a line of `shard`, which this process thought it held: all that
    /// plays there must end at once, without a word. Cancel safe.
    pub async fn refused(&self, shard: u32) {
        // It cannot fail: `self` is a sender.
        _ = self.0.subscribe().wait_for(|all| all.refused.contains(&shard)).await;
    }

    /// True after [`Self::refused`], until the shard is held again.
    pub fn is_refused(&self, shard: u32) -> bool {
        self.0.borrow().refused.contains(&shard)
    }

    /// Notified when other shards are held than before, or the same ones again.
    pub fn changes(&self) -> watch::Receiver<Shards> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::{FutureExt, poll};
    use tokio::time::advance;

    use super::*;

    const TTL: Duration = Duration::from_secs(6);

    /// A server on this shard, if there are two.
    fn on_shard(shard: u64) -> u64 {
        (shard << 22) | 5
    }

    fn serves(served: &Served) -> [bool; 3] {
        let owners = [Owner::Local, Owner::Guild(on_shard(0)), Owner::Guild(on_shard(1))];
        owners.map(|owner| served.serves(owner))
    }

    #[tokio::test(start_paused = true)]
    async fn owners_are_served_while_their_shard_is_held() {
        let served = Served::default();
        assert_eq!(serves(&served), [true; 3], "no lease is needed");
        let until = Instant::now() + TTL;
        let mut changes = served.changes();
        served.hold(2, [], until);
        assert_eq!(serves(&served), [false; 3]);
        served.hold(2, [1], until);
        assert_eq!(serves(&served), [false, false, true]);
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        served.hold(2, [1], until);
        assert!(!changes.has_changed().unwrap(), "a renewal");
        served.hold(2, [0], until);
        assert!(changes.has_changed().unwrap());
        assert_eq!(serves(&served), [true, true, false]);
        advance(TTL).await;
        assert_eq!(serves(&served), [false; 3], "it was not renewed");
    }

    #[tokio::test(start_paused = true)]
    async fn refused_line_loses_its_shard() {
        let served = Served::default();
        let (first, second) = (on_shard(0), on_shard(1));
        assert!(!served.refuse(first), "no shard is leased");
        served.hold(2, [0, 1], Instant::now() + TTL);
        let mut refused = Box::pin(served.refused(0));
        assert!(poll!(&mut refused).is_pending());
        assert!(served.refuse(first));
        assert!(served.refuse(first), "so are those behind it");
        refused.await;
        assert!(served.is_refused(0) && !served.is_refused(1));
        assert_eq!(serves(&served), [false, false, true]);
        served.hold(2, [1], Instant::now() + TTL);
        assert!(served.refuse(first), "until the shard is held again");
        served.hold(2, [0, 1], Instant::now() + TTL);
        assert_eq!(served.refused(0).now_or_never(), None);
        served.release(&[1]);
        assert_eq!(serves(&served), [true, true, false]);
        assert!(!served.refuse(second), "it was given back");
        advance(TTL).await;
        assert!(!served.refuse(first), "it has ended");
    }
}

//! The shards of the gateway that this process leases from the store.
//!
//! Entry function: [`serve`]. Leases are renewed four times in their life ([`Sharing::ttl`]), and
//! free ones taken; a shard starts when its lease came, once it may identify. A shard lasts as long
//! as a lease after the last successful renewal **was sent**, which is before the store gives it to
//! another process, however long the answer took. Its [`Tenure`] ends it even if a renewal hangs. A
//! lease that comes back is a new start. Every [`BALANCE_EVERY`] a process with more than its share
//! gives back shards without a session. A full process gives back at once the shard of a server
//! whose session it refused, if another has room. A process that is cut off from Discord gives back
//! all ([`Reach`]); their sessions go on elsewhere, as after a lost lease.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use tokio::{
    sync::{Mutex, mpsc},
    task::{JoinError, JoinSet},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    reach::{Reach, living, room},
    rest::Fatal,
    tenure::Tenure,
};
use crate::{
    campaign::{Lease, Leases, Node, NodeStatus, Served, StoreError, fair_share, shard_of},
    figures::{Figures, LeaseLoss},
};

/// Longest time from the request to end until shards are given back, if other processes live.
const HAND_OVER: Duration = Duration::from_secs(10);
/// Of it, the longest wait for the store at its beginning and at its end, each.
const HAND_OVER_PATIENCE: Duration = Duration::from_secs(1);
/// Interval of looks at other processes.
pub const BALANCE_EVERY: Duration = Duration::from_secs(15);

/// Interval of renewals: three may fail in the life `ttl` of a lease.
pub fn renewed_every(ttl: Duration) -> Duration {
    ttl / 4
}

/// This process among others on one store.
pub struct Sharing {
    /// Its tables are counted at each renewal.
    pub node: Node,
    /// Life of its leases that are not renewed; others may have another.
    pub ttl: Duration,
}

impl Sharing {
    /// Longest wait for the store, so that a hanging connection leaves time for another renewal.
    fn patience(&self) -> Duration {
        self.ttl / 3
    }
}

/// What [`serve`] leases with.
pub struct Leasing {
    pub leases: Arc<dyn Leases>,
    pub sharing: Sharing,
    /// Shards that may identify at once, at least one.
    pub buckets: u32,
    /// Discord servers with a session now.
    pub playing: Box<dyn Fn() -> Vec<u64> + Send + Sync>,
    /// How many shards are connected to Discord's gateway now.
    pub connected: Box<dyn Fn() -> u32 + Send + Sync>,
    /// Discord servers whose session was refused because this process is full.
    pub refused: mpsc::Receiver<u64>,
    /// Learns of the shards that are held.
    pub served: Served,
    pub figures: Figures,
    /// Set before shards are closed while other processes live, which go on with their sessions: when
    /// shards are closed by.
    pub hand_over_by: Arc<OnceLock<Instant>>,
}

/// Resolves when a shard may identify, at once; false: it must not any more.
pub type Turn = BoxFuture<'static, bool>;

/// Serves leased shards until `stop`, then closes them and gives them back. `start` serves a shard
/// from its turn until its tenure is over, or its token is cancelled, which asks it to close in order.
/// Fails with the first shard that fails, or if the store refuses this process.
pub async fn serve<S, F>(leasing: Leasing, start: S, stop: CancellationToken) -> Result<(), Fatal>
where
    S: Fn(Lease, Tenure, CancellationToken, Turn) -> F,
    F: Future<Output = Result<(), Fatal>> + Send + 'static,
{
    let mut shards = Shards {
        leasing,
        start,
        open: BTreeMap::new(),
        tasks: JoinSet::new(),
        held: Vec::new(),
        has_renewed: false,
        is_failing: false,
        balanced_at: Instant::now(),
        reach: Reach::default(),
        refused: BTreeSet::new(),
        queues: BTreeMap::new(),
    };
    let ended = shards.run(&stop).await;
    shards.close().await;
    ended
}

/// Like [`serve`], of the only shard of a bot that this process serves alone.
pub async fn serve_alone<S, F>(start: S, stop: CancellationToken) -> Result<(), Fatal>
where
    S: FnOnce(Lease, Tenure, CancellationToken, Turn) -> F,
    F: Future<Output = Result<(), Fatal>>,
{
    start(Lease { shard: 0, epoch: 0 }, Tenure::endless(), stop, ready(true).boxed()).await
}

struct Shards<S> {
    leasing: Leasing,
    start: S,
    /// Until their tasks have ended.
    open: BTreeMap<u32, Open>,
    tasks: JoinSet<(u32, Result<(), Fatal>)>,
    /// Shards of the last successful renewal.
    held: Vec<u32>,
    has_renewed: bool,
    is_failing: bool,
    balanced_at: Instant,
    reach: Reach,
    /// Shards on which a session was refused since the last look at other processes.
    refused: BTreeSet<u32>,
    /// Of each bucket: held by the shard that waits to identify. The others reserve nothing yet,
    /// because they may be given back first.
    queues: BTreeMap<u32, Arc<Mutex<()>>>,
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

struct Renewal {
    sent: Instant,
    answer: Result<Vec<Lease>, StoreError>,
    /// All processes, if they were asked for.
    nodes: Option<Vec<NodeStatus>>,
}

impl<S, F> Shards<S>
where
    S: Fn(Lease, Tenure, CancellationToken, Turn) -> F,
    F: Future<Output = Result<(), Fatal>> + Send + 'static,
{
    async fn run(&mut self, stop: &CancellationToken) -> Result<(), Fatal> {
        let mut renewal = self.renewal(Instant::now(), true);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                Some(ended) = self.tasks.join_next() => {
                    if let Some(closed) = self.ended(ended)? {
                        // One under way would keep the store from it, and may still name it.
                        drop(renewal);
                        let patience = self.leasing.sharing.patience();
                        give_back(&self.leasing, vec![closed], patience).await;
                        renewal = self.renewal(Instant::now(), true);
                    }
                }
                done = &mut renewal => {
                    let sent = done.sent;
                    self.take(done, true)?;
                    self.leave().await;
                    renewal = self.renewal(sent + renewed_every(self.leasing.sharing.ttl), true);
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
        if !self.open.is_empty() && has_others(&self.leasing).await {
            // Nothing has set it before.
            let _ = self.leasing.hand_over_by.set(by);
        }
        self.open.values().for_each(|open| open.close.cancel());
        let mut renewal = self.renewal(Instant::now(), false);
        loop {
            tokio::select! {
                biased;
                ended = self.tasks.join_next() => {
                    let Some(ended) = ended else { break };
                    if let Err(error) = self.ended(ended) {
                        tracing::error!(%error, "a shard has failed");
                    }
                }
                done = &mut renewal => {
                    let next = done.sent + renewed_every(self.leasing.sharing.ttl);
                    renewal = self.renewal(next, false);
                    // Nothing is refused any more.
                    let _ = self.take(done, false);
                }
            }
        }
        // One under way would keep the store from giving back.
        drop(renewal);
        let held = std::mem::take(&mut self.held);
        self.count_held();
        if !held.is_empty() {
            give_back(&self.leasing, held, HAND_OVER_PATIENCE).await;
        }
    }

    /// The renewal at `at`, with free shards if `takes`.
    fn renewal(&mut self, at: Instant, takes: bool) -> BoxFuture<'static, Renewal> {
        let Leasing { leases, sharing, playing, connected, .. } = &self.leasing;
        let (ttl, patience) = (sharing.ttl, sharing.patience());
        let tables = u32::try_from(playing().len()).unwrap_or(u32::MAX);
        let (is_cut_off, is_down) = (self.reach.is_paused(at), self.reach.is_down(at));
        let node = Node { tables, connected: connected(), is_cut_off, ..sharing.node.clone() };
        let leases = Arc::clone(leases);
        let is_due = at >= self.balanced_at + BALANCE_EVERY || !self.refused.is_empty();
        let looks = takes && is_due && (node.shards > 1 || is_cut_off || is_down);
        if looks {
            self.balanced_at = at;
        }
        let takes = takes && !is_cut_off;
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

    /// Extends, ends and, if `starts`, starts shards. Fails if the store refuses this process.
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
        let (now, until) = (Instant::now(), renewal.sent + self.leasing.sharing.ttl);
        self.apply(&leases, until, starts && !self.reach.is_paused(now));
        let is_trying = self.open.values().any(|open| open.may_identify.load(Ordering::Relaxed));
        self.reach.note(now, (self.leasing.connected)(), is_trying);
        if let Some(nodes) = renewal.nodes {
            match self.reach.look(now, &nodes, &self.leasing.sharing.node) {
                true => self.drop_all(),
                false => self.balance(&nodes),
            }
        }
        Ok(())
    }

    /// Ends all shards where they are: other processes reach Discord, and this one does not.
    fn drop_all(&mut self) {
        tracing::warn!("no shard here is connected to Discord: leaving all to other processes");
        self.refused.clear();
        for open in self.open.values_mut() {
            open.tenure.end();
            open.is_lost = true;
        }
    }

    /// Gives back all shards while this process is cut off from Discord.
    async fn leave(&mut self) {
        if self.held.is_empty() || !self.reach.is_paused(Instant::now()) {
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.count_held();
        give_back(&self.leasing, held, self.leasing.sharing.patience()).await;
    }

    fn apply(&mut self, leases: &[Lease], until: Instant, starts: bool) {
        let Leasing { sharing, served, .. } = &self.leasing;
        served.hold(sharing.node.shards, leases.iter().map(|lease| lease.shard), until);
        let now = Instant::now();
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
            open.lose(loss, &self.leasing.figures);
        }
        for lease in leases {
            // One that is still ending starts again after that.
            if starts && !self.open.contains_key(&lease.shard) && now < until {
                self.start(*lease, Tenure::new(now, until));
            }
        }
    }

    fn start(&mut self, lease: Lease, tenure: Tenure) {
        let Lease { shard, epoch } = lease;
        let close = CancellationToken::new();
        let (leases, bucket) = (Arc::clone(&self.leasing.leases), shard % self.leasing.buckets);
        let retry = renewed_every(self.leasing.sharing.ttl);
        let queue = Arc::clone(self.queues.entry(bucket).or_default());
        let figures = self.leasing.figures.clone();
        let (is_lost, may_identify) = (false, Arc::<AtomicBool>::default());
        let (lasts, closing) = (tenure.clone(), close.clone());
        let connects = Arc::clone(&may_identify);
        let turn = async move {
            let asked = Instant::now();
            tokio::select! {
                biased;
                () = lasts.over() => return false,
                () = closing.cancelled() => return false,
                () = identify(&*leases, bucket, &queue, retry) => {}
            }
            connects.store(true, Ordering::Relaxed);
            figures.identify_waited(asked.elapsed());
            true
        };
        let serving = (self.start)(lease, tenure.clone(), close.clone(), turn.boxed());
        self.open.insert(shard, Open { epoch, tenure, close, may_identify, is_lost });
        self.tasks.spawn(async move { (shard, serving.await) });
    }

    /// Forgets a shard whose task has ended; returns it if it was closed. Fails if it has failed.
    fn ended(
        &mut self,
        ended: Result<(u32, Result<(), Fatal>), JoinError>,
    ) -> Result<Option<u32>, Fatal> {
        let (shard, ended) = ended.map_err(|lost| Fatal::SetUp(lost.to_string()))?;
        let mut open = self.open.remove(&shard);
        ended?;
        if let Some(open) = &mut open {
            let Leasing { served, figures, .. } = &self.leasing;
            if open.tenure.has_expired(Instant::now()) {
                open.lose(LeaseLoss::Expired, figures);
            } else if served.is_refused(shard) {
                open.lose(LeaseLoss::Taken, figures);
            }
        }
        Ok(open.filter(|open| open.close.is_cancelled()).map(|_| shard))
    }

    fn count_held(&self) {
        let held = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.leasing.figures.set_shards(held, self.leasing.sharing.node.shards);
    }

    /// Asks shards without a session to close, if other processes should have them.
    fn balance(&mut self, nodes: &[NodeStatus]) {
        let Leasing { sharing: Sharing { node, .. }, playing, .. } = &self.leasing;
        let busy = playing().into_iter().map(|guild| shard_of(guild, node.shards));
        let busy: BTreeSet<u32> = busy.collect();
        let idle = self.open.keys().rev().copied().filter(|shard| !busy.contains(shard));
        let refused = std::mem::take(&mut self.refused);
        for shard in given(nodes, node, idle.collect(), &refused) {
            tracing::info!(shard, "giving a shard to another process");
            if let Some(open) = self.open.get(&shard) {
                open.close.cancel();
            }
        }
    }
}

/// True if other processes live, or the store does not say: a session that no other process goes on
/// with goes on at the next start, and one that was ended never.
async fn has_others(Leasing { leases, sharing, .. }: &Leasing) -> bool {
    match timeout(HAND_OVER_PATIENCE, leases.nodes()).await {
        Ok(Ok(nodes)) => nodes.iter().any(|it| it.node.run != sharing.node.run && !it.is_gone),
        _ => true,
    }
}

async fn give_back(leasing: &Leasing, shards: Vec<u32>, patience: Duration) {
    let Leasing { leases, sharing, served, .. } = leasing;
    // Lines that are still to be written were said before.
    served.release(&shards);
    match timeout(patience, leases.give_back(sharing.node.run.clone(), shards)).await {
        Ok(Ok(())) => {}
        // They expire.
        Ok(Err(error)) => tracing::warn!(%error, "cannot give back shards"),
        Err(_) => tracing::warn!("cannot give back shards: the store does not answer"),
    }
}

/// Waits until a shard of `bucket` may identify; asks again after `retry`. Cancel safe.
async fn identify(leases: &dyn Leases, bucket: u32, queue: &Mutex<()>, retry: Duration) {
    let _turn = queue.lock().await;
    let wait = loop {
        match leases.identify(bucket).await {
            Ok(wait) => break wait,
            Err(error) => {
                tracing::warn!(%error, bucket, "cannot ask when a shard may identify");
                sleep(retry).await;
            }
        }
    };
    sleep(wait).await;
}

/// Shards among the `idle` ones of `node` to give to other processes: those where a session
/// was `refused`, if others have room for it, then as many as are above its share.
fn given(
    nodes: &[NodeStatus],
    node: &Node,
    idle: Vec<u32>,
    refused: &BTreeSet<u32>,
) -> BTreeSet<u32> {
    let (own, others) = living(nodes, node);
    let room = match own.iter().any(|it| it.node.is_full()) {
        true => room(&others),
        // This process has room itself.
        false => 0,
    };
    let (asked, rest): (Vec<_>, Vec<_>) = idle.into_iter().partition(|it| refused.contains(it));
    let mut given: BTreeSet<u32> = asked.into_iter().take(room).collect();
    let surplus = surplus(nodes, node).saturating_sub(given.len());
    given.extend(rest.into_iter().take(surplus));
    given
}

/// How many shards `node` has above the fair share that other living processes with room lack.
pub fn surplus(nodes: &[NodeStatus], node: &Node) -> usize {
    let (own, others) = living(nodes, node);
    let share = fair_share(node.shards, (others.len() as u64).saturating_add(1));
    let share = usize::try_from(share).unwrap_or(usize::MAX);
    let above: usize = own.iter().map(|it| it.leases.len().saturating_sub(share)).sum();
    // A share is rounded up, so the others together may lack less than each by itself.
    let lacked: usize = others.iter().map(|it| share.saturating_sub(it.leases.len())).sum();
    above.min(lacked)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use tokio::{sync::Notify, task::JoinHandle};

    use super::{super::reach::check_alone, *};
    use crate::domain::Owner;

    const TTL: Duration = Duration::from_secs(6);
    /// Way of a request to the store.
    const WAY: Duration = Duration::from_millis(100);
    const SLOT: Duration = Duration::from_secs(5);

    struct Row {
        run: String,
        epoch: u64,
        expires: Instant,
    }

    #[derive(Default)]
    struct Tables {
        is_away: bool,
        /// Updated beyond these processes.
        is_newer: bool,
        nodes: BTreeMap<String, (Node, Instant)>,
        leases: BTreeMap<u32, Row>,
        slots: BTreeMap<u32, Instant>,
        /// Of each run: held by the request that writes to its row.
        rows: BTreeMap<String, Arc<tokio::sync::Mutex<()>>>,
    }

    impl Tables {
        fn row(&mut self, run: &str) -> Arc<tokio::sync::Mutex<()>> {
            Arc::clone(self.rows.entry(run.to_owned()).or_default())
        }

        fn held(&self, run: &str) -> Vec<Lease> {
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
    struct Store(Mutex<Tables>);

    impl Store {
        fn tables(&self) -> MutexGuard<'_, Tables> {
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

        fn give_back(
            &self,
            run: String,
            shards: Vec<u32>,
        ) -> BoxFuture<'_, Result<(), StoreError>> {
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

    /// One process beside others.
    struct Process {
        began: Instant,
        /// What shards did, in milliseconds.
        log: Arc<Mutex<Vec<(u128, String)>>>,
        stop: CancellationToken,
        refused: mpsc::Sender<u64>,
        served: Served,
        figures: Figures,
        hand_over_by: Arc<OnceLock<Instant>>,
        /// Shards that run are connected.
        is_online: Arc<AtomicBool>,
        /// Ends shards by themselves.
        quit: Arc<Notify>,
        serving: JoinHandle<Result<(), Fatal>>,
    }

    impl Process {
        fn start(store: &Arc<Store>, node: Node, buckets: u32, playing: Vec<u64>) -> Self {
            Self::start_leasing(store, Sharing { node, ttl: TTL }, buckets, playing)
        }

        fn start_leasing(
            store: &Arc<Store>,
            sharing: Sharing,
            buckets: u32,
            playing: Vec<u64>,
        ) -> Self {
            let leases = Arc::clone(store) as Arc<dyn Leases>;
            let playing = Box::new(move || playing.clone());
            let (began, stop) = (Instant::now(), CancellationToken::new());
            let log = Arc::<Mutex<Vec<(u128, String)>>>::default();
            let (quit, served) = (Arc::<Notify>::default(), Served::default());
            let (told, quits, refuses) = (Arc::clone(&log), Arc::clone(&quit), served.clone());
            let start = move |Lease { shard, .. }: Lease,
                              tenure: Tenure,
                              close: CancellationToken,
                              turn: Turn| {
                let told = Arc::clone(&told);
                let (quits, refuses) = (Arc::clone(&quits), refuses.clone());
                async move {
                    if !turn.await {
                        return Ok(());
                    }
                    let note = |what| {
                        let entry = (began.elapsed().as_millis(), format!("{what} {shard}"));
                        told.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
                    };
                    note("start");
                    tokio::select! {
                        biased;
                        () = tenure.over() => note("drop"),
                        () = close.cancelled() => note("close"),
                        () = refuses.refused(shard) => note("refuse"),
                        () = quits.notified() => note("quit"),
                    }
                    tenure.end();
                    Ok(())
                }
            };
            let (figures, is_online) = (Figures::default(), Arc::new(AtomicBool::new(true)));
            let hand_over_by = Arc::<OnceLock<Instant>>::default();
            let connected = Box::new(connected(Arc::clone(&is_online), Arc::clone(&log)));
            let (refused, refusals) = mpsc::channel(8);
            let leasing = Leasing {
                leases,
                sharing,
                buckets,
                playing,
                connected,
                refused: refusals,
                served: served.clone(),
                figures: figures.clone(),
                hand_over_by: Arc::clone(&hand_over_by),
            };
            let serving = tokio::spawn(serve(leasing, start, stop.clone()));
            Self {
                began,
                log,
                stop,
                refused,
                served,
                figures,
                hand_over_by,
                is_online,
                quit,
                serving,
            }
        }

        async fn at(&self, millis: u64) {
            sleep_until(self.began + Duration::from_millis(millis)).await;
        }

        fn log(&self) -> Vec<(u128, String)> {
            self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }

        async fn end(self) -> (Result<(), Fatal>, Vec<(u128, String)>) {
            self.stop.cancel();
            let ended = self.serving.await.unwrap();
            let log = self.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (ended, log)
        }
    }

    /// How many shards run, unless they are not connected.
    fn connected(
        is_online: Arc<AtomicBool>,
        log: Arc<Mutex<Vec<(u128, String)>>>,
    ) -> impl Fn() -> u32 {
        move || {
            let log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let starts = log.iter().filter(|(_, what)| what.starts_with("start")).count();
            let running = u32::try_from(2 * starts - log.len()).unwrap();
            if is_online.load(Ordering::Relaxed) { running } else { 0 }
        }
    }

    fn node(run: &str, shards: u32) -> Node {
        let (name, build) = ("host".to_owned(), "0.1.0".to_owned());
        Node { name, run: run.to_owned(), build, shards, ..Node::default() }
    }

    fn logged(log: &[(u128, &str)]) -> Vec<(u128, String)> {
        log.iter().map(|(at, what)| (*at, (*what).to_owned())).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn shards_wait_until_they_may_identify() {
        let store = Arc::<Store>::default();
        let process = Process::start(&store, node("a", 2), 1, Vec::new());
        process.at(9_000).await;
        assert_eq!(process.log(), logged(&[(100, "start 0"), (5_100, "start 1")]));
        let served = process.served.clone();
        assert!(served.serves(Owner::Local));
        let (ended, log) = process.end().await;
        assert!(ended.is_ok() && !served.serves(Owner::Local));
        let closed: BTreeSet<_> = log[2..].iter().cloned().collect();
        let both = logged(&[(9_000, "close 0"), (9_000, "close 1")]);
        assert_eq!(closed, both.into_iter().collect());
        assert!(store.tables().held("a").is_empty(), "given back");
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_are_handed_over_by_one_deadline() {
        for (has_others, is_away) in [(false, false), (true, false), (false, true)] {
            let store = Arc::<Store>::default();
            let process = Process::start(&store, node("a", 1), 1, Vec::new());
            process.at(2_000).await;
            if has_others {
                store.tables().nodes.insert("b".to_owned(), (node("b", 1), Instant::now()));
            }
            store.tables().is_away = is_away;
            let (by, asked) = (Arc::clone(&process.hand_over_by), Instant::now());
            process.end().await.0.unwrap();
            let left = by.get().map(|by| by.duration_since(asked));
            // Then leases are given back.
            let patience = HAND_OVER - HAND_OVER_PATIENCE;
            assert_eq!(left, (has_others || is_away).then_some(patience));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn short_outage_of_the_store_ends_nothing() {
        let store = Arc::<Store>::default();
        let process = Process::start(&store, node("a", 1), 1, Vec::new());
        process.at(2_000).await;
        store.tables().is_away = true;
        process.at(6_000).await;
        store.tables().is_away = false;
        process.at(20_000).await;
        assert_eq!(process.log(), logged(&[(100, "start 0")]));
    }

    #[tokio::test(start_paused = true)]
    async fn long_outage_drops_shards_in_time() {
        let store = Arc::<Store>::default();
        let process = Process::start(&store, node("a", 1), 1, Vec::new());
        process.at(2_000).await;
        store.tables().is_away = true;
        process.at(30_000).await;
        assert!(!process.served.serves(Owner::Local));
        let expired = store.tables().leases[&0].expires - process.began;
        // Renewed last at 1.5 s.
        assert_eq!(process.log(), logged(&[(100, "start 0"), (7_500, "drop 0")]));
        assert!(expired > Duration::from_millis(7_500), "{expired:?}");
        store.tables().is_away = false;
        process.at(32_000).await;
        assert_eq!(store.tables().leases[&0].epoch, 2);
        assert!(process.served.serves(Owner::Local));
        assert_eq!(process.log().len(), 3, "it starts anew: {:?}", process.log());
        store.tables().is_away = true;
        let (ended, log) = process.end().await;
        assert!(ended.is_ok(), "what is not given back expires");
        assert_eq!(log[3..], logged(&[(32_000, "close 0")]));
    }

    #[tokio::test(start_paused = true)]
    async fn shards_last_as_long_as_their_lease() {
        let store = Arc::<Store>::default();
        let start = |run, ttl| {
            let sharing = Sharing { node: node(run, 1), ttl: Duration::from_secs(ttl) };
            Process::start_leasing(&store, sharing, 1, Vec::new())
        };
        let first = start("a", 2);
        first.at(1_000).await;
        let second = start("b", 8);
        first.at(3_900).await;
        assert!(second.log().is_empty(), "it is held: {:?}", first.log());
        first.serving.abort();
        first.at(14_000).await;
        // Renewed last at 3.5 s by the first, and asked for at 1, 3, 5 and 7 s by the second.
        assert_eq!(second.log(), logged(&[(6_100, "start 0")]));
    }

    #[tokio::test(start_paused = true)]
    async fn shard_of_another_owner_is_dropped_at_once() {
        let store = Arc::<Store>::default();
        let process = Process::start(&store, node("a", 1), 1, Vec::new());
        process.at(2_000).await;
        let expires = Instant::now() + TTL;
        let row = Row { run: "b".to_owned(), epoch: 2, expires };
        store.tables().leases.insert(0, row);
        process.at(5_000).await;
        assert_eq!(process.log(), logged(&[(100, "start 0"), (3_100, "drop 0")]));
    }

    #[tokio::test(start_paused = true)]
    async fn lost_leases_are_counted_by_their_cause() {
        let store = Arc::<Store>::default();
        let process = Process::start(&store, node("a", 1), 1, Vec::new());
        let lost = || {
            let text = process.figures.render();
            let count = |reason| {
                let name = format!("glyphoxa_leases_lost_total{{reason=\"{reason}\"}} ");
                text.lines().find_map(|line| line.strip_prefix(name.as_str())?.parse::<u64>().ok())
            };
            (count("expired"), count("taken"))
        };
        process.at(1_000).await;
        process.quit.notify_waiters();
        // Then it waits until it may identify again.
        process.at(5_500).await;
        let log = [(100, "start 0"), (1_000, "quit 0"), (5_100, "start 0")];
        assert_eq!(process.log(), logged(&log));
        assert_eq!(lost(), (Some(0), Some(0)), "its lease is held");
        // Another process has it by now.
        let row = Row { run: "b".to_owned(), epoch: 2, expires: Instant::now() + TTL };
        store.tables().leases.insert(0, row);
        assert!(process.served.refuse(5));
        process.at(5_700).await;
        assert_eq!(process.log()[3..], logged(&[(5_500, "refuse 0")]));
        assert_eq!(lost(), (Some(0), Some(1)));
        process.at(14_000).await;
        store.tables().is_away = true;
        process.at(25_000).await;
        assert_eq!(lost(), (Some(1), Some(1)), "{:?}", process.log());
    }

    #[tokio::test(start_paused = true)]
    async fn idle_shards_go_to_a_process_that_lacks_some() {
        let store = Arc::<Store>::default();
        let first = Process::start(&store, node("a", 4), 16, vec![3 << 22]);
        first.at(1_000).await;
        let second = Process::start(&store, node("b", 4), 16, Vec::new());
        first.at(14_000).await;
        assert!(second.log().is_empty(), "all are held");
        first.at(24_000).await;
        let held = |run: &str| store.tables().held(run).iter().map(|it| it.shard).collect();
        let (a, b): (Vec<u32>, Vec<u32>) = (held("a"), held("b"));
        assert_eq!((a, b), (vec![0, 3], vec![1, 2]), "3 has a session");
        let closed = first.log().iter().filter(|(_, it)| it.starts_with("close")).count();
        assert_eq!((closed, second.log().len()), (2, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn full_process_gives_shard_of_a_refused_session() {
        let store = Arc::<Store>::default();
        let full = Node { capacity: Some(1), ..node("a", 4) };
        let first = Process::start(&store, full, 16, vec![3 << 22]);
        first.at(1_000).await;
        let second = Process::start(&store, node("b", 4), 16, Vec::new());
        let held = |run: &str| store.tables().held(run).iter().map(|it| it.shard).collect();
        first.at(24_000).await;
        let (a, b): (Vec<u32>, Vec<u32>) = (held("a"), held("b"));
        assert_eq!((a, b), (vec![0, 3], vec![1, 2]));
        for guild in [5, 3 << 22, 6] {
            first.refused.send(guild).await.unwrap();
        }
        first.at(24_300).await;
        let closed = first.log().into_iter().filter(|(at, _)| *at >= 24_000);
        assert_eq!(closed.collect::<Vec<_>>(), logged(&[(24_100, "close 0")]));
        first.at(60_000).await;
        let (a, b): (Vec<u32>, Vec<u32>) = (held("a"), held("b"));
        assert_eq!((a, b), (vec![3], vec![0, 1, 2]), "3 has a session");
        assert_eq!((first.log().len(), second.log().len()), (7, 3), "none moves again");
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_do_not_hold_up_renewals() {
        let store = Arc::<Store>::default();
        let full = Node { capacity: Some(1), ..node("a", 2) };
        let process = Process::start(&store, full, 16, vec![5]);
        for tenth in 20..150 {
            process.at(tenth * 100 + 50).await;
            process.refused.send(1 << 22).await.unwrap();
        }
        assert_eq!(process.log().len(), 2, "both shards last: {:?}", process.log());
    }

    #[tokio::test(start_paused = true)]
    async fn other_number_of_shards_is_refused() {
        let store = Arc::<Store>::default();
        let first = Process::start(&store, node("a", 4), 1, Vec::new());
        first.at(1_000).await;
        let second = Process::start(&store, node("b", 5), 1, Vec::new());
        let ended = second.serving.await.unwrap();
        assert!(matches!(ended, Err(Fatal::Leases(_))), "{ended:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn store_updated_meanwhile_ends_a_process() {
        let store = Arc::<Store>::default();
        let process = Process::start(&store, node("a", 2), 1, Vec::new());
        process.at(1_000).await;
        store.tables().is_away = true;
        process.at(9_000).await;
        store.tables().is_newer = true;
        store.tables().is_away = false;
        let ended = process.serving.await.unwrap();
        assert!(matches!(ended, Err(Fatal::Leases(_))), "{ended:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn lone_process_beside_nodes_is_refused() {
        let store = Store::default();
        assert!(check_alone(&store).await.is_ok(), "it is alone");
        store.tables().nodes.insert("a".to_owned(), (node("a", 2), Instant::now()));
        let refused = check_alone(&store).await.unwrap_err().to_string();
        for part in ["'host'", "--node", "'cluster'"] {
            assert!(refused.contains(part), "{refused}");
        }
        store.tables().is_away = true;
        assert!(check_alone(&store).await.is_ok(), "an outage stops no lone process");
        store.tables().is_away = false;
        sleep(TTL + SLOT).await;
        assert!(check_alone(&store).await.is_ok(), "the node is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn cut_off_process_leaves_its_shards() {
        let store = Arc::<Store>::default();
        let first = Process::start(&store, node("a", 1), 1, Vec::new());
        first.at(1_000).await;
        let second = Process::start(&store, node("b", 1), 1, Vec::new());
        first.at(10_000).await;
        first.is_online.store(false, Ordering::Relaxed);
        first.at(42_000).await;
        // Noted at 10.6 s. The other takes the shard with its next renewal.
        assert_eq!(first.log(), logged(&[(100, "start 0"), (36_100, "drop 0")]));
        assert_eq!(second.log(), logged(&[(36_100, "start 0")]), "at 37.1 s of the first");
        assert!(store.tables().nodes["a"].0.is_cut_off);
        second.serving.abort();
        first.at(60_000).await;
        let again = first.log().split_off(2);
        assert_eq!(again, logged(&[(52_600, "start 0")]), "before its pause of 30 s is over");
        first.at(600_000).await;
        assert_eq!(first.log().len(), 3, "no other process lives");
    }

    #[tokio::test(start_paused = true)]
    async fn outage_of_discord_moves_no_shard() {
        let store = Arc::<Store>::default();
        let both = ["a", "b"].map(|run| Process::start(&store, node(run, 2), 16, Vec::new()));
        let logs = || both.each_ref().map(Process::log);
        both[0].at(40_000).await;
        let before = logs();
        assert!(before.iter().all(|log| !log.is_empty()), "each has a shard: {before:?}");
        both.iter().for_each(|it| it.is_online.store(false, Ordering::Relaxed));
        both[0].at(600_000).await;
        assert_eq!(logs(), before);
    }

    #[test]
    fn surplus_is_what_others_lack() {
        for (held, surplus_of_first) in [
            (vec![8], 0),
            (vec![8, 0], 4),
            (vec![5, 3], 1),
            (vec![8, 0, 0], 5),
            (vec![3, 3, 2], 0),
            (vec![4, 4], 0),
        ] {
            let status = |(index, held): (usize, &u32)| NodeStatus {
                node: node(&index.to_string(), 8),
                seen_ago: Duration::ZERO,
                is_gone: false,
                leases: (0..*held).map(|shard| Lease { shard, epoch: 1 }).collect(),
            };
            let nodes: Vec<_> = held.iter().enumerate().map(status).collect();
            let given = given(&nodes, &nodes[0].node, (0..8).collect(), &BTreeSet::new());
            assert_eq!(given.len(), surplus_of_first, "{held:?}");
        }
    }

    #[test]
    fn given_are_shards_that_others_have_room_for() {
        let (none, one) = (BTreeSet::new(), BTreeSet::from([1, 2]));
        let full = (2, Some(2));
        for (tables, is_gone, refused, expected) in [
            ([full, (2, Some(3))], false, &one, vec![1]),
            ([full, (2, None)], false, &one, vec![1, 2]),
            ([full, (2, None)], false, &none, vec![]),
            ([full, full], false, &one, vec![]),
            ([full, (2, None)], true, &one, vec![]),
            // A session has ended meanwhile.
            ([(1, Some(2)), (2, None)], false, &one, vec![]),
        ] {
            let status = |(index, (tables, capacity)): (u32, _)| {
                let node = Node { tables, capacity, ..node(&format!("{index}"), 8) };
                let (seen_ago, is_gone) = (Duration::ZERO, is_gone && index == 1);
                let leases = (0..4).map(|it| Lease { shard: index * 4 + it, epoch: 1 });
                NodeStatus { node, seen_ago, is_gone, leases: leases.collect() }
            };
            let nodes: Vec<_> = (0..).zip(tables).map(status).collect();
            let given = given(&nodes, &nodes[0].node, vec![0, 1, 2], refused);
            assert_eq!(given.into_iter().collect::<Vec<_>>(), expected, "{tables:?}, {is_gone}");
        }
    }
}

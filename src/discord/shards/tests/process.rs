//! A process that shares its shards, and the log of what they did. Entry type: [`Process`].

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::store::{Store, TTL};
use crate::{
    campaign::{Lease, Leases, Node, Served},
    discord::{
        rest::Fatal,
        shards::{IdentifySlot, Leasing, Sharing, serve},
        tenure::Tenure,
    },
    figures::Figures,
};

/// One process beside others.
pub struct Process {
    pub began: Instant,
    /// What shards did, in milliseconds.
    log: Arc<Mutex<Vec<(u128, String)>>>,
    stop: CancellationToken,
    pub refused: mpsc::Sender<u64>,
    pub served: Served,
    pub figures: Figures,
    pub hand_over_by: Arc<OnceLock<Instant>>,
    /// Shards that run are connected.
    pub is_online: Arc<AtomicBool>,
    /// Ends shards by themselves.
    pub quit: Arc<Notify>,
    pub serving: JoinHandle<Result<(), Fatal>>,
}

impl Process {
    pub fn start(store: &Arc<Store>, node: Node, buckets: u32, playing: Vec<u64>) -> Self {
        Self::start_leasing(store, Sharing { node, ttl: TTL }, buckets, playing)
    }

    pub fn start_leasing(
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
                          slot: IdentifySlot| {
            let told = Arc::clone(&told);
            let (quits, refuses) = (Arc::clone(&quits), refuses.clone());
            async move {
                if !slot.await {
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
        Self { began, log, stop, refused, served, figures, hand_over_by, is_online, quit, serving }
    }

    pub async fn at(&self, millis: u64) {
        sleep_until(self.began + Duration::from_millis(millis)).await;
    }

    pub fn log(&self) -> Vec<(u128, String)> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn end(self) -> (Result<(), Fatal>, Vec<(u128, String)>) {
        self.stop.cancel();
        let ended = self.serving.await.unwrap();
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (ended, log)
    }
}

/// How many shards run, unless they are not connected.
fn connected(is_online: Arc<AtomicBool>, log: Arc<Mutex<Vec<(u128, String)>>>) -> impl Fn() -> u32 {
    move || {
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let starts = log.iter().filter(|(_, what)| what.starts_with("start")).count();
        let running = u32::try_from(2 * starts - log.len()).unwrap();
        if is_online.load(Ordering::Relaxed) { running } else { 0 }
    }
}

pub fn node(run: &str, shards: u32) -> Node {
    let (name, build) = ("host".to_owned(), "0.1.0".to_owned());
    Node { name, run: run.to_owned(), build, shards, ..Node::default() }
}

pub fn logged(log: &[(u128, &str)]) -> Vec<(u128, String)> {
    log.iter().map(|(at, what)| (*at, (*what).to_owned())).collect()
}

//! Processes on one store, with paused time.

mod process;
mod store;

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use self::{
    process::{Process, logged, node},
    store::{Row, SLOT, Store, TTL},
};
use super::{HAND_OVER, HAND_OVER_PATIENCE, Sharing, check_alone};
use crate::{campaign::Node, discord::rest::Fatal, domain::Owner};

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

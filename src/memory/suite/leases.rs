//! Leases of shards, identifies, and writes without a lease.

use std::time::Duration;

use super::{
    super::{
        Error, IDENTIFY_APART, KeptRun, Lease, LineFilter, MemoryStore, Node, NodeStatus, Scope,
        Viewer, shard_of,
    },
    sample::{key, line, of_guild},
};

const LONG: Duration = Duration::from_secs(3_600);

/// A node whose run has its name.
fn node(name: &str, shards: u32) -> Node {
    Node {
        name: name.to_owned(),
        run: name.to_owned(),
        build: "1.2.3".to_owned(),
        shards,
        tables: 2,
        capacity: Some(9),
        application: 7,
        connected: 3,
        is_cut_off: false,
    }
}

fn leases(all: &[(u32, u64)]) -> Vec<Lease> {
    all.iter().map(|&(shard, epoch)| Lease { shard, epoch }).collect()
}

async fn renewed(store: &dyn MemoryStore, name: &str, takes: bool) -> Vec<Lease> {
    store.renew(node(name, 8), LONG, takes).await.unwrap()
}

/// A scope on this shard, if there are two.
fn on_shard(shard: u32) -> Scope {
    let guild = (1_u64 << 40) | (u64::from(shard) << 22) | 5;
    assert_eq!(shard_of(guild, 2), shard);
    of_guild(guild)
}

async fn said(store: &dyn MemoryStore, scope: &Scope, n: u64) -> Result<Vec<u64>, Error> {
    store.append(scope, vec![line("s", n, "my mule")]).await
}

/// The only node holds all shards, by one epoch, until it gives them back.
pub async fn alone(store: &dyn MemoryStore) {
    assert_eq!(store.nodes().await.unwrap(), []);
    assert_eq!(renewed(store, "a", false).await, []);
    let all = leases(&[0, 1, 2, 3, 4, 5, 6, 7].map(|shard| (shard, 1)));
    for takes in [true, true, false] {
        assert_eq!(renewed(store, "a", takes).await, all);
    }
    let nodes = store.nodes().await.unwrap();
    let seen_ago = nodes[0].seen_ago;
    assert!(seen_ago < LONG, "{seen_ago:?}");
    let status = NodeStatus { node: node("a", 8), seen_ago, is_gone: false, leases: all.clone() };
    assert_eq!(nodes, [status]);
    assert_eq!(said(store, &of_guild(7), 1).await.unwrap(), [1]);
    store.give_back("a".to_owned(), vec![1, 2, 9]).await.unwrap();
    let left = leases(&[0, 3, 4, 5, 6, 7].map(|shard| (shard, 1)));
    assert_eq!(renewed(store, "a", false).await, left);
    store.give_back("a".to_owned(), (0..8).collect()).await.unwrap();
    assert_eq!(store.nodes().await.unwrap(), []);
    assert_eq!(renewed(store, "a", false).await, []);
    identifies(store, store).await;
}

/// Identifies of one bucket are apart, whichever node asks.
pub async fn identifies(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    let wait = async |store: &dyn MemoryStore, bucket| store.identify(bucket).await.unwrap();
    assert_eq!(wait(one, 0).await, Duration::ZERO);
    for (nth, store) in (1..=16).zip([two, one].into_iter().cycle()) {
        let waited = wait(store, 0).await;
        // The time that the calls took is missing: up to half, on a busy machine.
        let apart = nth * IDENTIFY_APART;
        assert!(nth < 8 || apart / 2 < waited, "{nth}: {waited:?}");
        assert!(waited <= apart, "{nth}: {waited:?}");
    }
    for bucket in 1..4 {
        assert_eq!(wait(two, bucket).await, Duration::ZERO);
    }
}

/// Nodes take their share of the free shards, and no other's.
pub async fn shares(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    let of = |shards: [u32; 4]| leases(&shards.map(|shard| (shard, 1)));
    assert_eq!(renewed(one, "a", false).await, []);
    assert_eq!(renewed(two, "b", true).await, of([0, 1, 2, 3]));
    assert_eq!(renewed(one, "a", true).await, of([4, 5, 6, 7]));
    one.give_back("a".to_owned(), vec![5, 6, 0]).await.unwrap();
    assert_eq!(renewed(two, "b", true).await, of([0, 1, 2, 3]), "it has its share");
    assert_eq!(renewed(one, "a", false).await, leases(&[(4, 1), (7, 1)]));
    let again = leases(&[(4, 1), (5, 2), (6, 2), (7, 1)]);
    assert_eq!(renewed(one, "a", true).await, again);
    let nodes = two.nodes().await.unwrap();
    let held: Vec<_> = nodes.iter().map(|it| (it.node.name.as_str(), &it.leases)).collect();
    assert_eq!(held, [("a", &again), ("b", &of([0, 1, 2, 3]))]);
    one.give_back("a".to_owned(), (0..8).collect()).await.unwrap();
    let all = [(0, 1), (1, 1), (2, 1), (3, 1), (4, 2), (5, 3), (6, 3), (7, 2)];
    assert_eq!(renewed(two, "b", true).await, leases(&all), "the other has ended");
    assert_eq!(renewed(one, "a", true).await, [], "none is free");
}

/// A full node takes no shard while another has room, and counts for no share.
pub async fn rooms(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    let held = async |store: &dyn MemoryStore, name, capacity| {
        let node = Node { capacity, ..node(name, 4) };
        let leases = store.renew(node, LONG, true).await.unwrap();
        leases.into_iter().map(|lease| lease.shard).collect::<Vec<_>>()
    };
    assert_eq!(held(one, "a", Some(2)).await, [0, 1, 2, 3], "no other has room");
    one.give_back("a".to_owned(), vec![1]).await.unwrap();
    assert_eq!(held(two, "b", Some(1)).await, [1], "both are full");
    one.give_back("a".to_owned(), vec![2, 3]).await.unwrap();
    assert_eq!(held(two, "b", Some(1)).await, [1, 2], "its share of two");
    assert_eq!(held(two, "b", None).await, [1, 2, 3], "the other is full");
    one.give_back("a".to_owned(), vec![0]).await.unwrap();
    assert_eq!(held(one, "a", Some(2)).await, [0_u32; 0], "the other has room");
    two.give_back("b".to_owned(), vec![3]).await.unwrap();
    assert_eq!(held(one, "a", Some(3)).await, [0, 3]);
    let nodes = one.nodes().await.unwrap();
    let told: Vec<_> = nodes.iter().map(|it| (it.node.capacity, it.node.is_full())).collect();
    assert_eq!(told, [(Some(3), false), (None, false)]);
}

/// A node that is cut off from Discord counts for no share.
pub async fn cut_offs(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    let cut_off = Node { is_cut_off: true, ..node("a", 8) };
    assert_eq!(one.renew(cut_off, LONG, false).await.unwrap(), []);
    assert_eq!(renewed(two, "b", true).await.len(), 8);
    let nodes = one.nodes().await.unwrap();
    let told: Vec<_> = nodes.iter().map(|it| (it.node.connected, it.node.is_cut_off)).collect();
    assert_eq!(told, [(3, true), (3, false)]);
}

/// All living nodes serve one bot.
pub async fn bots(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    one.renew(node("a", 8), LONG, true).await.unwrap();
    let other = || Node { application: 9, ..node("b", 8) };
    let error = two.renew(other(), LONG, true).await.unwrap_err();
    assert!(matches!(&error, Error::Asked(_)), "{error:?}");
    let text = error.to_string();
    for part in ["'a'", "application 7", "application 9", "memory.url"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(one.nodes().await.unwrap().len(), 1, "what is refused is not noted");
    one.renew(Node { application: 0, ..node("a", 8) }, LONG, true).await.unwrap();
    assert!(two.renew(other(), LONG, true).await.is_ok(), "earlier versions name no application");
}

/// Nodes that begin at the same moment take each shard once.
pub async fn beginnings(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    let (a, b) = tokio::join!(renewed(one, "a", true), renewed(two, "b", true));
    let mut all = [a, b].concat();
    all.sort();
    assert_eq!(all, leases(&[0, 1, 2, 3, 4, 5, 6, 7].map(|shard| (shard, 1))));
}

/// All living nodes have one number of shards.
pub async fn numbers(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    one.renew(node("a", 8), LONG, true).await.unwrap();
    for _ in 0..2 {
        let error = two.renew(node("b", 4), LONG, true).await.unwrap_err();
        assert!(matches!(&error, Error::Asked(_)), "{error:?}");
        let text = error.to_string();
        for part in ["'a'", "8 shards", "with 4", "cluster.shards"] {
            assert!(text.contains(part), "{text}");
        }
    }
    assert_eq!(one.nodes().await.unwrap().len(), 1, "what is refused is not noted");
    one.renew(node("a", 8), Duration::ZERO, false).await.unwrap();
    assert!(two.nodes().await.unwrap()[0].is_gone, "its lease has ended");
    let taken = two.renew(node("b", 4), LONG, true).await.unwrap();
    assert_eq!(taken, leases(&[0, 1, 2, 3].map(|shard| (shard, 2))));
    assert!(one.renew(node("a", 8), LONG, true).await.is_err(), "it comes too late");
}

/// A node that has lost a shard writes nothing for its servers.
pub async fn fence(stores: [&dyn MemoryStore; 4]) {
    let [one, two, asleep, without] = stores;
    let scope = on_shard(1);
    let run = || KeptRun {
        id: "r".to_owned(),
        workflow: "bells".to_owned(),
        began: 5,
        ended: None,
        record: "{}".to_owned(),
    };
    let held = one.renew(node("a", 2), LONG, true).await.unwrap();
    assert_eq!(held, leases(&[(0, 1), (1, 1)]));
    assert_eq!(said(one, &scope, 1).await.unwrap(), [1]);
    one.keep_run(&scope, run()).await.unwrap();
    // It ends its leases, as time would.
    assert_eq!(asleep.renew(node("a", 2), Duration::ZERO, false).await.unwrap(), []);
    refused(one, &scope).await;
    let taken = two.renew(node("b", 2), LONG, true).await.unwrap();
    assert_eq!(taken, leases(&[(0, 2), (1, 2)]), "others own them");
    refused(one, &scope).await;
    assert!(one.keep_run(&scope, KeptRun { ended: Some(9), ..run() }).await.is_err());
    assert_eq!(two.runs(&scope, 0).await.unwrap(), [run()]);
    let lines = two.lines(&scope, LineFilter::default(), Viewer::Dm).await.unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(said(two, &scope, 2).await.unwrap(), [2]);
    assert_eq!(said(without, &scope, 3).await.unwrap(), [3], "it serves no shard");
    assert_eq!(said(one, &key(), 1).await.unwrap(), [1], "it is no server's");
    two.give_back("b".to_owned(), vec![1]).await.unwrap();
    refused(two, &scope).await;
    assert_eq!(one.renew(node("a", 2), LONG, true).await.unwrap(), leases(&[(1, 3)]));
    assert_eq!(said(one, &scope, 4).await.unwrap(), [4]);
    refused(one, &on_shard(0)).await;
    late(one, two, &on_shard(0)).await;
}

/// Lines that `one` said before it lost the server to `two` are written once, beside those of `two`.
async fn late(one: &dyn MemoryStore, two: &dyn MemoryStore, scope: &Scope) {
    assert_eq!(said(two, scope, 3).await.unwrap(), [1]);
    let lines = || [2, 1].map(|n| line("s", n, "my owl")).to_vec();
    for _ in 0..2 {
        assert_eq!(one.append_late(scope, lines()).await.unwrap(), [2, 3]);
    }
    assert_eq!(said(two, scope, 1).await.unwrap(), [3], "it is known to both");
    assert_eq!(said(two, scope, 4).await.unwrap(), [4]);
    refused(one, scope).await;
}

async fn refused(store: &dyn MemoryStore, scope: &Scope) {
    for n in [1, 9] {
        let error = said(store, scope, n).await.unwrap_err();
        assert!(matches!(error, Error::Fenced(_)) && !error.is_passing(), "{error:?}");
        assert!(error.to_string().contains("another node serves it"), "{error}");
    }
}

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};

use super::{Indexed, Indexer};
use crate::{
    campaign::Served,
    domain::{CampaignKey, Owner, Scope},
    memory::{MemoryStore, Present, SessionFilter, Sqlite, Uid, Utterance},
    provider::{self, Embedder},
    tools::builtin::Meaning,
};

/// Embeds everything as the same, and counts.
#[derive(Default)]
struct Same(AtomicUsize);

impl Embedder for Same {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn dimension(&self) -> Option<usize> {
        Some(2)
    }

    fn embed(
        &self,
        texts: &[String],
    ) -> BoxFuture<'static, Result<Vec<Vec<f32>>, provider::Error>> {
        self.0.fetch_add(texts.len(), Ordering::SeqCst);
        ready(Ok(vec![vec![1.0, 1.0]; texts.len()])).boxed()
    }
}

fn campaign() -> Scope {
    Scope::local(CampaignKey("c".to_owned()))
}

fn line(n: u64) -> Utterance {
    Utterance {
        uid: Uid(n.to_string()),
        session: "s".to_owned(),
        at: 1_000,
        speaker: "Anna".to_owned(),
        text: format!("line {n}"),
        present: vec![Present { name: "Bartok".to_owned(), player: None }],
        ..Utterance::default()
    }
}

/// Counts of the store after everything was indexed by this model, and the number of embedded texts.
async fn indexed(store: &Arc<dyn MemoryStore>, model: &str) -> (String, usize) {
    let embedder = Arc::new(Same::default());
    let meaning = Meaning { model: model.to_owned(), embedder: Arc::clone(&embedder) as _ };
    let written = Arc::new(Notify::new());
    let scopes = Indexed::Served(Served::default());
    let indexer = Indexer::open(Arc::clone(store), scopes, meaning, written, || 1_000);
    indexer.close().await;
    let counts = store.counts(&campaign()).await.unwrap();
    let all = counts.items.iter().chain(&counts.vectors);
    let all: Vec<String> = all.map(|it| format!("{} {}", it.count, it.of)).collect();
    (all.join(", "), embedder.0.load(Ordering::SeqCst))
}

#[tokio::test]
async fn lines_are_chunked_and_embedded_for_each_model() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn MemoryStore> =
        Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    store.append(&campaign(), (1..=600).map(line).collect()).await.unwrap();
    assert_eq!(indexed(&store, "one").await, ("75 chunk, 75 one".to_owned(), 75));
    assert_eq!(indexed(&store, "one").await.1, 0, "nothing is new");
    store.append(&campaign(), vec![line(601)]).await.unwrap();
    assert_eq!(indexed(&store, "one").await, ("76 chunk, 76 one".to_owned(), 1));
    assert_eq!(indexed(&store, "two").await, ("76 chunk, 76 two".to_owned(), 76));
    let sessions = store.sessions(&campaign(), SessionFilter::default()).await.unwrap();
    assert_eq!(sessions[0].unindexed, 0);
}

/// Panics when it is asked first.
struct Breaks(AtomicUsize);

impl Embedder for Breaks {
    fn name(&self) -> &str {
        "breaks"
    }

    fn dimension(&self) -> Option<usize> {
        Some(2)
    }

    fn embed(
        &self,
        texts: &[String],
    ) -> BoxFuture<'static, Result<Vec<Vec<f32>>, provider::Error>> {
        assert!(self.0.fetch_add(1, Ordering::SeqCst) > 0, "a fault of the embedder");
        ready(Ok(vec![vec![1.0, 1.0]; texts.len()])).boxed()
    }
}

#[tokio::test]
async fn indexer_that_has_panicked_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn MemoryStore> =
        Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    store.append(&campaign(), (1..=8).map(line).collect()).await.unwrap();
    let embedder = Arc::new(Breaks(AtomicUsize::new(0)));
    let meaning = Meaning { model: "one".to_owned(), embedder: Arc::clone(&embedder) as _ };
    let now = || i64::MAX;
    let scopes = Indexed::Only(campaign());
    let indexer = Indexer::open(Arc::clone(&store), scopes, meaning, Arc::default(), now);
    let asked = async {
        while embedder.0.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), asked).await.expect("the embedder is asked");
    indexer.close().await;
    let counts = store.counts(&campaign()).await.unwrap();
    assert_eq!(counts.vectors.iter().map(|it| it.count).sum::<u64>(), 1);
}

#[tokio::test(start_paused = true)]
async fn lines_are_indexed_where_they_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn MemoryStore> =
        Arc::new(Sqlite::open(&folder.path().join("memory.db")).unwrap());
    let of_guild = |guild| Scope { owner: Owner::Guild(guild), ..campaign() };
    let (first, second) = (of_guild(1), of_guild(1 << 22));
    for scope in [&first, &second] {
        store.append(scope, (1..=8).map(line).collect()).await.unwrap();
    }
    let (served, hour) = (Served::default(), Duration::from_secs(3_600));
    served.hold(2, [0], Instant::now() + hour);
    let (meaning, scopes) = (Meaning::by_spelling(), Indexed::Served(served.clone()));
    let indexer = Indexer::open(Arc::clone(&store), scopes, meaning, Arc::default(), || i64::MAX);
    let indexed = async |scope: &Scope| {
        let all = async {
            while store.counts(scope).await.unwrap().vectors.is_empty() {
                sleep(Duration::from_secs(1)).await;
            }
        };
        timeout(hour / 2, all).await.expect("it is indexed");
    };
    indexed(&first).await;
    assert!(store.counts(&second).await.unwrap().items.is_empty(), "another process serves it");
    served.hold(2, [0, 1], Instant::now() + hour);
    indexed(&second).await;
    indexer.close().await;
}

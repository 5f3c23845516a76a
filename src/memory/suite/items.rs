//! Items: search by words and by meaning, and removal with their lines.

use super::{
    super::{
        Item, ItemFilter, ItemHit, ItemKind, ItemQuery, MemoryStore, SessionFilter, Status, Vector,
        VectorQuery, Viewer, Visibility,
    },
    sample::{heard, key, line, npc, other},
};
use crate::memory::Utterance;

fn item(id: &str, kind: ItemKind, text: &str, lines: Option<(u64, u64)>) -> Item {
    Item {
        id: id.to_owned(),
        kind,
        text: text.to_owned(),
        session: lines.map(|_| "one".to_owned()),
        lines,
        visibility: Visibility::Everyone,
        status: Status::Accepted,
        made: 1,
    }
}

fn ids(found: &[ItemHit]) -> Vec<&str> {
    found.iter().map(|found| found.item.id.as_str()).collect()
}

async fn nearest(store: &dyn MemoryStore, values: [f32; 2], viewer: Viewer) -> Vec<ItemHit> {
    let values = values.to_vec();
    let query = VectorQuery { model: "m".to_owned(), values, kinds: Vec::new(), limit: 9 };
    store.nearest(&key(), query, viewer).await.unwrap()
}

/// Bartok hears all three lines, Mira only the first two.
async fn fill(store: &dyn MemoryStore) {
    let alone = Utterance { present: vec![heard("Bartok")], ..line("one", 3, "The king is dead.") };
    let lines = vec![line("one", 1, "Hello."), line("one", 2, "The mill burned."), alone];
    store.append(&key(), lines).await.unwrap();
    let items = vec![
        item("early", ItemKind::Chunk, "Hello. The mill burned.", Some((1, 2))),
        item("late", ItemKind::Chunk, "The mill burned. The king is dead.", Some((2, 3))),
        item("known", ItemKind::Fact, "Mills grind corn.", None),
        Item {
            visibility: Visibility::Dm,
            ..item("dm", ItemKind::Fact, "The mill is cursed.", None)
        },
        Item {
            visibility: Visibility::Npcs(vec!["Mira".to_owned()]),
            ..item("told", ItemKind::Fact, "Mira owns the mill.", None)
        },
        Item {
            status: Status::Proposed,
            ..item("perhaps", ItemKind::Fact, "The mill was Ben's.", None)
        },
        Item { status: Status::Rejected, ..item("wrong", ItemKind::Fact, "No mill.", None) },
        item("vanished", ItemKind::Chunk, "Of lines that are not there.", Some((3, 4))),
    ];
    assert_eq!(store.put_items(&key(), items).await.unwrap(), 7);
}

pub async fn finding(store: &dyn MemoryStore) {
    fill(store).await;
    let vectors = [
        ("early", [1.0, 0.0]),
        ("late", [2.0, 0.2]),
        ("known", [0.6, 0.6]),
        ("dm", [0.9, 0.1]),
        ("told", [0.0, 5.0]),
        ("perhaps", [0.5, 0.5]),
        ("wrong", [1.0, 0.0]),
        ("nothing", [1.0, 0.0]),
    ];
    let without = ItemFilter { without: Some("m".to_owned()), ..ItemFilter::default() };
    let missing = store.items(&key(), without.clone(), Viewer::Dm).await.unwrap();
    assert_eq!(missing.len(), 6);
    let vectors =
        vectors.map(|(item, values)| Vector { item: item.to_owned(), values: values.to_vec() });
    assert_eq!(store.put_vectors(&key(), "m", vectors.to_vec()).await.unwrap(), 7);
    assert!(store.items(&key(), without.clone(), Viewer::Dm).await.unwrap().is_empty());
    let zero = Vector { item: "early".to_owned(), values: vec![0.0, 0.0] };
    let short = Vector { item: "early".to_owned(), values: vec![1.0] };
    for bad in [zero, short] {
        assert!(store.put_vectors(&key(), "m", vec![bad]).await.is_err());
    }

    let found = nearest(store, [1.0, 0.0], Viewer::Dm).await;
    assert_eq!(ids(&found)[..2], ["early", "late"]);
    assert!((found[0].score - 1.0).abs() < 1e-5 && !ids(&found).contains(&"wrong"));
    for (viewer, expected) in [
        (npc("Bartok"), vec!["early", "known", "late"]),
        (npc("Mira"), vec!["early", "known", "told"]),
        (npc("Nobody"), vec!["known"]),
        (Viewer::Everyone, vec!["early", "known", "late"]),
        (Viewer::Dm, vec!["dm", "early", "known", "late", "perhaps", "told"]),
    ] {
        let found = nearest(store, [1.0, 0.0], viewer.clone()).await;
        let mut near = ids(&found);
        near.sort_unstable();
        assert_eq!(near, expected, "{viewer:?}");
        let words = ItemQuery { text: "mill mills".to_owned(), limit: 9, ..ItemQuery::default() };
        let found = store.search_items(&key(), words, viewer.clone()).await.unwrap();
        let mut by_words = ids(&found);
        by_words.sort_unstable();
        assert_eq!(by_words, expected, "{viewer:?}");
    }
    let facts = ItemQuery {
        text: "mill".to_owned(),
        kinds: vec![ItemKind::Chunk],
        session: Some("one".to_owned()),
        limit: 1,
    };
    assert_eq!(store.search_items(&key(), facts, Viewer::Dm).await.unwrap().len(), 1);
    let long = VectorQuery { model: "m".to_owned(), values: vec![1.0; 3], kinds: vec![], limit: 9 };
    assert!(store.nearest(&key(), long, Viewer::Dm).await.unwrap().is_empty());
    changing(store, without).await;
}

async fn changing(store: &dyn MemoryStore, without: ItemFilter) {
    let of = |status| ItemFilter { status: Some(status), ..ItemFilter::default() };
    let proposed = store.items(&key(), of(Status::Proposed), Viewer::Dm).await.unwrap();
    assert_eq!(proposed.len(), 1);
    assert!(store.items(&key(), of(Status::Proposed), npc("Mira")).await.unwrap().is_empty());
    // Accepted unchanged it keeps its vector; edited it loses it.
    let accepted = Item { status: Status::Accepted, ..proposed[0].clone() };
    store.put_items(&key(), vec![accepted.clone()]).await.unwrap();
    assert!(ids(&nearest(store, [1.0, 0.0], Viewer::Everyone).await).contains(&"perhaps"));
    let edited = Item { text: "It was Ben's mill.".to_owned(), ..accepted };
    store.put_items(&key(), vec![edited.clone()]).await.unwrap();
    let missing = store.items(&key(), without, Viewer::Dm).await.unwrap();
    assert_eq!(missing, [edited]);
    assert!(store.items(&other(), ItemFilter::default(), Viewer::Dm).await.unwrap().is_empty());
    let new = Vector { item: "early".to_owned(), values: vec![1.0; 3] };
    store.put_vectors(&key(), "new", vec![new]).await.unwrap();
    assert_eq!(store.keep_vectors_of(&key(), "new").await.unwrap(), 6);
    assert!(nearest(store, [1.0, 0.0], Viewer::Dm).await.is_empty());
    let counts = store.counts(&key()).await.unwrap();
    assert_eq!((counts.vectors[0].of.as_str(), counts.vectors[0].count), ("new", 1));
}

pub async fn derived(store: &dyn MemoryStore) {
    fill(store).await;
    let unindexed = async || {
        let sessions = store.sessions(&key(), SessionFilter::default()).await.unwrap();
        sessions[0].unindexed
    };
    assert_eq!(unindexed().await, 0);
    let vector = Vector { item: "late".to_owned(), values: vec![1.0, 0.0] };
    store.put_vectors(&key(), "m", vec![vector]).await.unwrap();
    assert_eq!(nearest(store, [1.0, 0.0], Viewer::Dm).await.len(), 1);
    // The third line goes with its chunk; the second awaits another chunk.
    let third = vec![line("one", 3, "").uid];
    let gone = store.withdraw(&key(), third).await.unwrap();
    assert_eq!((gone.lines, gone.derived), (1, 1));
    assert!(nearest(store, [1.0, 0.0], Viewer::Dm).await.is_empty());
    let words = ItemQuery { text: "king".to_owned(), limit: 9, ..ItemQuery::default() };
    assert!(store.search_items(&key(), words, Viewer::Dm).await.unwrap().is_empty());
    assert_eq!(unindexed().await, 1);
}

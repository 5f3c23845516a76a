//! The graph: names, paths and visibility.

use std::collections::BTreeMap;

use super::{
    super::{
        Applied, Around, Change, Entity, EntityFilter, EntityKind, Forget, MemoryStore, Provenance,
        Relation, RelationKey, Scope, Viewer, Visibility,
    },
    sample::{key, line, npc, other},
};

fn entity(id: &str, kind: EntityKind) -> Entity {
    Entity {
        id: id.to_owned(),
        kind,
        name: format!("The {id}"),
        aliases: vec![format!("Öld {id}")],
        description: "Something.".to_owned(),
        attributes: BTreeMap::from([("age".to_owned(), 7.into())]),
        tags: vec!["north".to_owned()],
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: Some(format!("campaign:{id}")),
    }
}

fn tie(from: &str, kind: &str, to: &str) -> Relation {
    Relation {
        key: RelationKey { from: from.to_owned(), kind: kind.to_owned(), to: to.to_owned() },
        attributes: BTreeMap::new(),
        visibility: Visibility::Everyone,
        provenance: Provenance { confidence: 1.0, ..Provenance::default() },
    }
}

/// a -> b <- c -> d -> e, f alone; `hidden` is the game master's, `trade` for those with that
/// topic, and both shorten the path from a to e.
async fn fill(store: &dyn MemoryStore) -> Applied {
    let mut changes: Vec<Change> =
        ["a", "b", "c", "d", "e", "f"].map(|id| Change::Put(entity(id, EntityKind::Npc))).into();
    changes.push(Change::Put(Entity {
        visibility: Visibility::Dm,
        ..entity("hidden", EntityKind::Quest)
    }));
    changes.push(Change::Put(Entity {
        knowledge: vec!["TRADE".to_owned()],
        ..entity("trade", EntityKind::Faction)
    }));
    for (from, to) in [
        ("a", "b"),
        ("c", "b"),
        ("c", "d"),
        ("d", "e"),
        ("a", "hidden"),
        ("hidden", "e"),
        ("a", "trade"),
        ("e", "trade"),
    ] {
        changes.push(Change::Tie(tie(from, "knows", to)));
    }
    changes.push(Change::Tie(Relation {
        visibility: Visibility::Npcs(vec!["Mira".to_owned()]),
        ..tie("a", "betrayed", "f")
    }));
    store.apply(&key(), changes).await.unwrap()
}

pub async fn all_relations(store: &dyn MemoryStore) {
    fill(store).await;
    store.apply(&other(), vec![Change::Put(entity("a", EntityKind::Npc))]).await.unwrap();
    store.apply(&other(), vec![Change::Tie(tie("a", "knows", "a"))]).await.unwrap();
    let seen = async |scope: Scope, viewer: Viewer| {
        let found = store.relations(&scope, viewer).await.unwrap();
        let shown = found.iter().map(|it| format!("{}-{}", it.key.from, it.key.to));
        shown.collect::<Vec<_>>().join(" ")
    };
    let all = "a-f a-b a-hidden a-trade c-b c-d d-e e-trade hidden-e";
    assert_eq!(seen(key(), Viewer::Dm).await, all);
    assert_eq!(seen(key(), Viewer::Everyone).await, "a-b a-trade c-b c-d d-e e-trade");
    assert_eq!(seen(key(), npc("Mira")).await, "a-f a-b a-trade c-b c-d d-e e-trade");
    assert_eq!(seen(other(), Viewer::Dm).await, "a-a");
}

pub async fn finding(store: &dyn MemoryStore) {
    fill(store).await;
    let names = async |filter: EntityFilter, viewer: Viewer| {
        let found = store.entities(&key(), filter, viewer).await.unwrap();
        found.into_iter().map(|entity| entity.id).collect::<Vec<_>>()
    };
    let none = EntityFilter::default;
    for (filter, expected) in [
        (EntityFilter { named: Some("the A".to_owned()), ..none() }, vec!["a"]),
        (EntityFilter { named: Some("old b".to_owned()), ..none() }, vec!["b"]),
        (EntityFilter { named: Some("old".to_owned()), ..none() }, vec![]),
        (EntityFilter { containing: Some("HIDD".to_owned()), ..none() }, vec!["hidden"]),
        (EntityFilter { kind: Some(EntityKind::Faction), ..none() }, vec!["trade"]),
        (EntityFilter { tag: Some("south".to_owned()), ..none() }, vec![]),
        (EntityFilter { tag: Some("north".to_owned()), limit: 2, ..none() }, vec!["a", "b"]),
        (EntityFilter { source: Some("campaign:tr".to_owned()), ..none() }, vec!["trade"]),
        (EntityFilter { ids: Some(vec!["d".to_owned(), "no".to_owned()]), ..none() }, vec!["d"]),
    ] {
        let shown = format!("{filter:?}");
        assert_eq!(names(filter, Viewer::Dm).await, expected, "{shown}");
    }
    let stranger = Viewer::Npc { name: "X".to_owned(), knows: vec!["war".to_owned()] };
    assert_eq!(names(none(), Viewer::Dm).await.len(), 8);
    assert_eq!(names(none(), Viewer::Everyone).await.len(), 7);
    assert_eq!(names(none(), npc("Mira")).await.len(), 7);
    assert_eq!(names(none(), stranger).await.len(), 6);

    let whole = store.entities(&key(), none(), Viewer::Dm).await.unwrap();
    assert_eq!(whole[0], entity("a", EntityKind::Npc), "as it was given");
    let snapshot = store.snapshot(&key(), "a", npc("Mira")).await.unwrap().unwrap();
    let around: Vec<&str> = snapshot.ties.iter().map(|tie| tie.other.id.as_str()).collect();
    assert_eq!(around, ["f", "b", "trade"]);
    let snapshot = store.snapshot(&key(), "e", Viewer::Everyone).await.unwrap().unwrap();
    let ties: Vec<_> = snapshot.ties.iter().map(|tie| tie.relation.key.from.as_str()).collect();
    assert_eq!(ties, ["e", "d"], "outgoing first");
    assert!(store.snapshot(&key(), "hidden", npc("Mira")).await.unwrap().is_none());
    assert!(store.snapshot(&other(), "a", Viewer::Dm).await.unwrap().is_none());
}

pub async fn ways(store: &dyn MemoryStore) {
    fill(store).await;
    let near = async |id: &str, depth, viewer: Viewer| {
        let around = Around { ids: vec![id.to_owned()], depth, limit: 20 };
        let found = store.neighbours(&key(), around, viewer).await.unwrap();
        assert!(found.is_sorted_by_key(|near| near.depth));
        let mut found: Vec<_> =
            found.into_iter().map(|near| (near.depth, near.entity.id)).collect();
        found.sort();
        found.into_iter().map(|(depth, id)| format!("{id}{depth}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(near("a", 1, npc("Bartok")).await, "b1 trade1");
    assert_eq!(near("a", 2, npc("Bartok")).await, "b1 trade1 c2 e2");
    assert_eq!(near("a", 3, npc("Bartok")).await, "b1 trade1 c2 e2 d3");
    assert_eq!(near("b", 3, Viewer::Dm).await, "a1 c1 d2 f2 hidden2 trade2 e3");
    let stranger = || Viewer::Npc { name: "X".to_owned(), knows: Vec::new() };
    assert_eq!(near("a", 3, stranger()).await, "b1 c2 d3");
    assert_eq!(near("hidden", 3, stranger()).await, "");
    for limit in 1..8 {
        let some = Around { ids: vec!["b".to_owned()], depth: 3, limit };
        let some = store.neighbours(&key(), some, Viewer::Dm).await.unwrap();
        let some: Vec<_> = some.into_iter().map(|near| near.entity.id).collect();
        assert_eq!(some, ["a", "c", "d", "f", "hidden", "trade", "e"][..limit]);
    }

    let way = async |from: &str, to: &str, viewer: Viewer| {
        let way = store.path(&key(), from, to, viewer).await.unwrap();
        way.map(|steps| steps.into_iter().map(|step| step.to.id).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(way("a", "e", stranger()).await.unwrap(), "b c d e");
    assert_eq!(way("a", "e", npc("Bartok")).await.unwrap(), "trade e");
    assert_eq!(way("e", "b", stranger()).await.unwrap(), "d c b");
    assert_eq!(way("a", "a", Viewer::Dm).await.unwrap(), "");
    assert_eq!(way("a", "f", Viewer::Dm).await.unwrap(), "f");
    assert_eq!(way("a", "f", stranger()).await, None);
    assert_eq!(way("a", "hidden", stranger()).await, None);
    assert_eq!(way("a", "unknown", Viewer::Dm).await, None);
}

pub async fn batches(store: &dyn MemoryStore) {
    assert_eq!(fill(store).await, Applied { added: 17, ..Applied::default() });
    assert_eq!(fill(store).await, Applied::default(), "twice is once");
    let changed = Entity { description: "New.".to_owned(), ..entity("a", EntityKind::Npc) };
    let broken = vec![Change::Put(changed.clone()), Change::Tie(tie("a", "knows", "nobody"))];
    let error = store.apply(&key(), broken).await.unwrap_err();
    assert!(error.to_string().contains("'nobody'"), "{error}");
    let one = store.snapshot(&key(), "a", Viewer::Dm).await.unwrap().unwrap();
    assert_eq!(one.entity.description, "Something.", "nothing of a broken batch");

    let session = line("one", 1, "I betrayed you");
    store.append(&key(), vec![session.clone(), line("one", 2, "No!")]).await.unwrap();
    let said = |n| Provenance {
        session: Some("one".to_owned()),
        utterance: Some(line("one", n, "").uid),
        ..Provenance::default()
    };
    let batch = vec![
        Change::Tie(Relation { provenance: said(1), ..tie("b", "betrayed", "c") }),
        Change::Tie(Relation { provenance: said(2), ..tie("b", "denied", "c") }),
        Change::Put(changed),
        Change::Remove("f".to_owned()),
        Change::Untie(tie("d", "KNOWS", "e").key),
    ];
    let applied = store.apply(&key(), batch).await.unwrap();
    assert_eq!(applied, Applied { added: 2, changed: 1, removed: 2 });
    let count = async || store.counts(&key()).await.unwrap().relations;
    assert_eq!(count().await, 9, "the one to f has gone with it");
    store.withdraw(&key(), vec![session.uid]).await.unwrap();
    assert_eq!(count().await, 8);
    store.forget(&key(), Forget::Session("one".to_owned())).await.unwrap();
    assert_eq!(count().await, 7);
}

//! Two guilds and this machine play the same campaign with the same ids: none sees or changes
//! another's data.

use std::collections::BTreeMap;

use super::{
    super::{
        Around, Change, Entity, EntityFilter, EntityKind, Forget, Item, ItemFilter, ItemKind,
        ItemQuery, LineFilter, LineQuery, MemoryStore, Provenance, Relation, RelationKey, Scope,
        Session, SessionFilter, Status, Uid, Vector, VectorQuery, Viewer, Visibility,
    },
    sample::{key, line, npc, of_guild},
};

/// Scopes of the campaign, each with a word that only it knows.
fn players() -> [(Scope, &'static str); 3] {
    [(of_guild(1), "abbey"), (of_guild(2), "bridge"), (key(), "castle")]
}

pub async fn apart(store: &dyn MemoryStore) {
    for (scope, word) in players() {
        fill(store, &scope, word).await;
    }
    assert_eq!(store.scopes().await.unwrap(), [of_guild(1), of_guild(2), key()]);
    for (scope, word) in players() {
        let seen = seen(store, &scope).await;
        for (_, any) in players() {
            assert_eq!(seen.contains(any), any == word, "'{any}' in what '{word}' sees: {seen}");
        }
    }
    changing(store).await;
    forgetting(store).await;
}

async fn fill(store: &dyn MemoryStore, scope: &Scope, word: &str) {
    let title = Some(format!("the {word}"));
    let session = Session { id: "one".to_owned(), title, ..Session::default() };
    store.put_session(scope, session).await.unwrap();
    let lines = (1..=3).map(|n| line("one", n, &format!("We meet at the {word}.")));
    assert_eq!(store.append(scope, lines.collect()).await.unwrap(), [1, 2, 3]);
    let items = [("chunk", ItemKind::Chunk), ("fact", ItemKind::Fact)].map(|(id, kind)| Item {
        id: id.to_owned(),
        kind,
        text: format!("They meet at the {word}."),
        session: Some("one".to_owned()),
        lines: Some((1, 2)),
        visibility: Visibility::Everyone,
        status: Status::Accepted,
        made: 1,
    });
    assert_eq!(store.put_items(scope, items.to_vec()).await.unwrap(), 2);
    let vector = |item: &str| Vector { item: item.to_owned(), values: vec![1.0, 0.5] };
    let vectors = vec![vector("chunk"), vector("fact")];
    assert_eq!(store.put_vectors(scope, "m", vectors).await.unwrap(), 2);
    let entity = |id: &str| Entity {
        id: id.to_owned(),
        kind: EntityKind::Location,
        name: format!("{id} {word}"),
        aliases: vec!["Meeting Place".to_owned()],
        description: String::new(),
        attributes: BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: None,
    };
    let relation = |from: &str, to: &str| Relation {
        key: RelationKey { from: from.to_owned(), kind: "near".to_owned(), to: to.to_owned() },
        attributes: [("how".to_owned(), word.into())].into(),
        visibility: Visibility::Everyone,
        provenance: Provenance {
            session: Some("one".to_owned()),
            utterance: Some(Uid("one-1".to_owned())),
            ..Provenance::default()
        },
    };
    let (places, ways) = (["a", "b", "c"], [("a", "b"), ("b", "c")]);
    let changes = places.map(|id| Change::Put(entity(id))).into_iter();
    let changes = changes.chain(ways.map(|(from, to)| Change::Tie(relation(from, to))));
    assert_eq!(store.apply(scope, changes.collect()).await.unwrap().added, 5);
}

/// Everything that a scope shows through any query.
async fn seen(store: &dyn MemoryStore, scope: &Scope) -> String {
    let words = || "abbey bridge castle meet".to_owned();
    let mut seen = String::new();
    for viewer in [Viewer::Dm, Viewer::Everyone, npc("Bartok")] {
        let query = LineQuery { text: words(), limit: 50, ..LineQuery::default() };
        let hits = store.search(scope, query, viewer.clone()).await.unwrap();
        let lines = store.lines(scope, LineFilter::default(), viewer.clone()).await.unwrap();
        assert_eq!((hits.len(), lines.len()), (3, 3));
        let items = store.items(scope, ItemFilter::default(), viewer.clone()).await.unwrap();
        let query = ItemQuery { text: words(), limit: 50, ..ItemQuery::default() };
        let found = store.search_items(scope, query, viewer.clone()).await.unwrap();
        let query = VectorQuery {
            model: "m".to_owned(),
            values: vec![1.0, 0.0],
            kinds: Vec::new(),
            limit: 50,
        };
        let near = store.nearest(scope, query, viewer.clone()).await.unwrap();
        assert_eq!((items.len(), found.len(), near.len()), (2, 2, 2));
        let entities =
            store.entities(scope, EntityFilter::default(), viewer.clone()).await.unwrap();
        let snapshot = store.snapshot(scope, "a", viewer.clone()).await.unwrap();
        let around = Around { ids: vec!["a".to_owned()], depth: 3, limit: 50 };
        let around = store.neighbours(scope, around, viewer.clone()).await.unwrap();
        let way = store.path(scope, "a", "c", viewer).await.unwrap().unwrap();
        assert_eq!((entities.len(), around.len(), way.len()), (3, 2, 2));
        // Scores depend on all lines in the store, so they are left out.
        let hits: Vec<_> = hits.into_iter().map(|hit| hit.line).collect();
        let found: Vec<_> = found.into_iter().map(|hit| hit.item).collect();
        seen.push_str(&format!("{hits:?}{lines:?}{items:?}{found:?}{near:?}"));
        seen.push_str(&format!("{entities:?}{snapshot:?}{around:?}{way:?}"));
    }
    let sessions = store.sessions(scope, SessionFilter::default()).await.unwrap();
    let counts = store.counts(scope).await.unwrap();
    assert_eq!((sessions.len(), counts.lines, counts.relations), (1, 3, 2));
    format!("{seen}{sessions:?}")
}

/// Changes of one scope leave the others as they were.
async fn changing(store: &dyn MemoryStore) {
    let before = (seen(store, &of_guild(2)).await, seen(store, &key()).await);
    let one = of_guild(1);
    store.withdraw(&one, vec![Uid("one-3".to_owned())]).await.unwrap();
    store.keep_vectors_of(&one, "other").await.unwrap();
    store.apply(&one, vec![Change::Remove("a".to_owned())]).await.unwrap();
    let ended = Session { id: "one".to_owned(), ended: Some(9), ..Session::default() };
    store.put_session(&one, ended).await.unwrap();
    assert!((seen(store, &of_guild(2)).await, seen(store, &key()).await) == before);
    let counts = store.counts(&one).await.unwrap();
    assert!(counts.vectors.is_empty() && counts.relations == 1, "{counts:?}");
}

/// Deleting a person in one guild, and a session of another, leaves the other scopes as they were.
async fn forgetting(store: &dyn MemoryStore) {
    let before = seen(store, &key()).await;
    let person = Forget::Player { id: "7".to_owned(), before: i64::MAX };
    assert_eq!(store.forget(&of_guild(1), person).await.unwrap().lines, 3);
    let session = Forget::Session("one".to_owned());
    assert_eq!(store.forget(&of_guild(2), session).await.unwrap().sessions, 1);
    assert!(seen(store, &key()).await == before);
}

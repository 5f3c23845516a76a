//! A store from before scopes, in which two guilds played the same campaign.

use std::{fs, path::Path};

use crate::{
    domain::Owner,
    memory::{
        CampaignKey, EntityFilter, Forget, ItemFilter, ItemQuery, LineFilter, LineQuery,
        MemoryStore, Scope, SessionFilter, VectorQuery, Viewer,
    },
};

/// Statements that fill a store of any earlier schema with the engine's own SQL.
pub fn data(folder: &str) -> String {
    let file = format!("src/memory/{folder}/guilds.data.sql");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn played(owner: Owner, campaign: &str) -> Scope {
    Scope { owner, campaign: CampaignKey(campaign.to_owned()) }
}

/// Each guild finds its own data and no one else's.
pub async fn apart(store: &dyn MemoryStore) {
    let (one, two, here) = (Owner::Guild(1), Owner::Guild(2), Owner::Local);
    for (owner, word, lines, items) in
        [(one, "abbey", 1, 1), (two, "bridge", 2, 1), (here, "castle", 1, 1)]
    {
        let scope = played(owner, "shared");
        let counts = store.counts(&scope).await.unwrap();
        assert_eq!((counts.sessions, counts.lines, counts.relations), (1, lines, 1), "{owner:?}");
        let seen = seen(store, &scope).await;
        for any in ["abbey", "bridge", "castle"] {
            assert_eq!(seen.contains(any), any == word, "{any} of {owner:?}: {seen}");
        }
        let found = store.items(&scope, ItemFilter::default(), Viewer::Dm).await.unwrap();
        assert_eq!(found.len(), items, "{found:?}");
        let snapshot = store.snapshot(&scope, "bartok", Viewer::Dm).await.unwrap().unwrap();
        assert_eq!((snapshot.ties.len(), snapshot.ties[0].other.name.as_str()), (1, word));
    }
    for owner in [Owner::Guild(3), here] {
        let scope = played(owner, "tried");
        assert_eq!(store.counts(&scope).await.unwrap().sessions, 1);
        let snapshot = store.snapshot(&scope, "x", Viewer::Dm).await.unwrap().unwrap();
        assert_eq!(snapshot.ties[0].other.name, "Ys", "{owner:?}");
    }
    forgotten(store).await;
}

async fn seen(store: &dyn MemoryStore, scope: &Scope) -> String {
    let words = || "abbey bridge castle meet".to_owned();
    let query = LineQuery { text: words(), limit: 9, ..LineQuery::default() };
    let hits = store.search(scope, query, Viewer::Dm).await.unwrap();
    let lines = store.lines(scope, LineFilter::default(), Viewer::Dm).await.unwrap();
    assert_eq!(hits.len(), lines.len());
    let query = ItemQuery { text: words(), limit: 9, ..ItemQuery::default() };
    let items = store.search_items(scope, query, Viewer::Dm).await.unwrap();
    let query =
        VectorQuery { model: "m".to_owned(), values: vec![1.0, 0.0], kinds: Vec::new(), limit: 9 };
    let near = store.nearest(scope, query, Viewer::Dm).await.unwrap();
    assert_eq!((items.len(), near.len()), (1, 1));
    let entities = store.entities(scope, EntityFilter::default(), Viewer::Dm).await.unwrap();
    let sessions = store.sessions(scope, SessionFilter::default()).await.unwrap();
    format!("{hits:?}{lines:?}{items:?}{near:?}{entities:?}{sessions:?}")
}

/// One guild deletes Anna, including her presence; the others keep her.
async fn forgotten(store: &dyn MemoryStore) {
    let heard = async |owner| {
        let all = store.lines(&played(owner, "shared"), LineFilter::default(), Viewer::Dm).await;
        format!("{:?}", all.unwrap()).contains("Anna")
    };
    let forget = Forget::Player { id: "7".to_owned(), before: i64::MAX };
    let gone = store.forget(&played(Owner::Guild(1), "shared"), forget).await.unwrap();
    assert_eq!(gone.lines, 1);
    assert!(!heard(Owner::Guild(1)).await);
    assert!(heard(Owner::Guild(2)).await && heard(Owner::Local).await);
}

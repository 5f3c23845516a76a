//! States of tables.

use super::super::{KeptTable, MemoryStore};
use crate::domain::Owner;

fn state(revision: u64) -> KeptTable {
    KeptTable { revision, text: format!(r#"{{"spent":{revision}}}"#) }
}

/// A state is replaced only by a later one, and belongs to one owner.
pub async fn records(store: &dyn MemoryStore) {
    let (guild, other) = (Owner::Guild(u64::MAX), Owner::Guild(7));
    assert_eq!(store.kept_table(guild, "one").await.unwrap(), None);
    assert!(!store.remove_kept_table(guild, "one").await.unwrap());
    for (revision, is_later) in [(2, true), (2, false), (1, false), (3, true)] {
        let stored = store.put_kept_table(guild, "one", state(revision)).await.unwrap();
        assert_eq!(stored, is_later, "{revision}");
    }
    assert_eq!(store.kept_table(guild, "one").await.unwrap(), Some(state(3)));
    for (owner, session) in [(other, "one"), (guild, "ONE"), (guild, "b"), (guild, "B")] {
        assert!(store.put_kept_table(owner, session, state(1)).await.unwrap());
    }
    assert_eq!(store.kept_ids(guild).await.unwrap(), ["B", "ONE", "b", "one"]);
    assert_eq!(store.kept_ids(Owner::Local).await.unwrap(), [""; 0]);
    assert!(store.remove_kept_table(guild, "one").await.unwrap());
    assert_eq!(store.kept_table(guild, "one").await.unwrap(), None);
    assert_eq!(store.kept_table(other, "one").await.unwrap(), Some(state(1)));
    assert!(store.put_kept_table(guild, "one", state(1)).await.unwrap(), "it was removed");
    assert!(store.scopes().await.unwrap().is_empty(), "a state is not data of a campaign");
}

/// Of two programs that change the same revision, one must look again.
pub async fn contest(one: &dyn MemoryStore, two: &dyn MemoryStore) {
    let owner = Owner::Guild(7);
    for revision in 1..20 {
        let (a, b) = tokio::join!(
            one.put_kept_table(owner, "one", state(revision)),
            two.put_kept_table(owner, "one", state(revision)),
        );
        assert_ne!(a.unwrap(), b.unwrap(), "{revision}");
    }
}

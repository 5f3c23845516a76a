//! Access tokens.

use super::super::{KeptToken, MemoryStore};
use crate::domain::{AccessRole, Owner};

fn token(id: &str, owner: Owner) -> KeptToken {
    KeptToken {
        id: id.to_owned(),
        hash: format!("hash of {id}"),
        owner,
        role: AccessRole::Player,
        tools: None,
        made: 5,
        ends: None,
    }
}

/// Tokens are listed by owner, found by hash, and removed once.
pub async fn records(store: &dyn MemoryStore) {
    let guild = Owner::Guild(u64::MAX);
    let (local, first) = (token("c", Owner::Local), token("a", guild));
    let limited = KeptToken {
        role: AccessRole::Dm,
        tools: Some(vec!["dice.roll".to_owned(), "npc.list".to_owned()]),
        made: 3,
        ends: Some(9),
        ..token("b", guild)
    };
    let idle = KeptToken { tools: Some(Vec::new()), made: 6, ..token("d", Owner::Local) };
    for token in [&local, &first, &limited, &idle] {
        store.add_token(token.clone()).await.unwrap();
    }
    let all = [limited.clone(), first.clone(), local.clone(), idle.clone()];
    assert_eq!(store.tokens(None).await.unwrap(), all, "oldest first");
    assert_eq!(store.tokens(Some(guild)).await.unwrap(), [limited.clone(), first.clone()]);
    assert_eq!(store.tokens(Some(Owner::Local)).await.unwrap(), [local.clone(), idle]);
    assert_eq!(store.tokens(Some(Owner::Guild(1))).await.unwrap(), []);
    assert_eq!(store.token("hash of b").await.unwrap(), Some(limited));
    for unknown in ["", "b", "HASH OF B", "hash of %"] {
        assert_eq!(store.token(unknown).await.unwrap(), None, "{unknown}");
    }
    let same_id = KeptToken { hash: "other".to_owned(), ..token("a", Owner::Local) };
    let same_hash = KeptToken { id: "e".to_owned(), ..token("a", Owner::Local) };
    for known in [same_id, same_hash] {
        assert!(store.add_token(known).await.is_err());
    }
    assert_eq!(store.token(&first.hash).await.unwrap(), Some(first.clone()));
    for existed in [true, false] {
        assert_eq!(store.remove_token("a").await.unwrap(), existed);
        assert_eq!(store.token(&first.hash).await.unwrap(), None);
    }
    assert_eq!(store.tokens(None).await.unwrap().len(), 3);
    assert!(store.scopes().await.unwrap().is_empty(), "a token is not data of a campaign");
}

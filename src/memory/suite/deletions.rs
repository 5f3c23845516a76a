//! Records of unfinished deletions, and deleting up to a moment.

use super::{
    super::{Deletion, Forget, ForgetFrom, LineFilter, MemoryStore, Viewer},
    sample::{key, line},
};
use crate::domain::{Owner, SessionId};

fn asked(owner: Owner, session: Option<&str>, before: i64) -> Deletion {
    let from = ForgetFrom { owner, session: session.map(|id| SessionId(id.to_owned())) };
    Deletion {
        names: vec!["Anna".to_owned(), "Rhea \"the red\"".to_owned()],
        asker: "9".to_owned(),
        ..Deletion::of("7".to_owned(), from, before)
    }
}

pub async fn records(store: &dyn MemoryStore) {
    assert_eq!(store.deletions().await.unwrap(), []);
    let guild = Owner::Guild(u64::MAX);
    let (all, one) = (asked(guild, None, 5), asked(guild, Some("one"), 3));
    let local = asked(Owner::Local, None, 4);
    for deletion in [&all, &one, &local] {
        store.put_deletion(deletion.clone()).await.unwrap();
    }
    let kept = [one.clone(), local.clone(), all.clone()];
    assert_eq!(store.deletions().await.unwrap(), kept, "the oldest first");
    // Rewritten by an earlier request, by the same one at a later stage, and by a later one.
    let earlier = Deletion { asker: "1".to_owned(), ..asked(guild, Some("one"), 2) };
    store.put_deletion(earlier.clone()).await.unwrap();
    assert_eq!(store.deletions().await.unwrap()[0], one);
    let files = vec!["discord-7-1".to_owned()];
    let further = Deletion { erased: true, files, ..one.clone() };
    store.put_deletion(further.clone()).await.unwrap();
    assert_eq!(store.deletions().await.unwrap()[0], further);
    let later = asked(guild, Some("one"), 9);
    store.put_deletion(later.clone()).await.unwrap();
    assert_eq!(store.deletions().await.unwrap()[2], later);
    // The earlier one is done.
    store.remove_deletion(further).await.unwrap();
    assert_eq!(store.deletions().await.unwrap().len(), 3);
    for _ in 0..2 {
        store.remove_deletion(later.clone()).await.unwrap();
        assert_eq!(store.deletions().await.unwrap(), [local.clone(), all.clone()]);
    }
    assert!(store.scopes().await.unwrap().is_empty());
}

pub async fn moments(store: &dyn MemoryStore) {
    let lines = (1..=3).map(|n| line("one", n, &format!("line {n}")));
    store.append(&key(), lines.collect()).await.unwrap();
    let forget = Forget::Player { id: "7".to_owned(), before: 1_002_000 };
    assert_eq!(store.forget(&key(), forget.clone()).await.unwrap().lines, 1);
    let left = store.lines(&key(), LineFilter::default(), Viewer::Dm).await.unwrap();
    let left: Vec<&str> = left.iter().map(|line| line.said.text.as_str()).collect();
    assert_eq!(left, ["line 2", "line 3"]);
    assert_eq!(store.forget(&key(), forget).await.unwrap().lines, 0);
}

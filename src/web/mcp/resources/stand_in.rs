//! Services with sessions and entities, for tests.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

pub use crate::campaign::stand_in_handles_without_tables as handles;
use crate::{
    campaign::{Handles, Holder, NewToken},
    domain::{AccessRole, Owner, Scope},
    memory::{Change, Entity, EntityKind, MemoryStore, Session, Uid, Utterance, Visibility},
};

fn store(handles: &Handles) -> Arc<dyn MemoryStore> {
    handles.sessions.transcripts().store()
}

/// Holder of a new token for all tools of `role`.
pub async fn holder(handles: &Handles, owner: Owner, role: AccessRole) -> Arc<Holder> {
    let wanted = NewToken { owner, role, tools: None, days: None };
    let (secret, _) = handles.access.create(wanted).await.unwrap();
    Arc::new(handles.access.holder(&secret).await.unwrap().unwrap())
}

/// Stores a session without lines.
pub async fn session(handles: &Handles, scope: &Scope, id: &str, ended: Option<i64>) {
    let session = Session { id: id.to_owned(), started: Some(1_000), ended, ..Session::default() };
    store(handles).put_session(scope, session).await.unwrap();
}

/// Stores a line of Anna's.
pub async fn line(
    handles: &Handles,
    scope: &Scope,
    session: &str,
    text: &str,
    visibility: Visibility,
) {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let said = Utterance {
        uid: Uid(format!("line-{}", NEXT.fetch_add(1, Ordering::Relaxed))),
        session: session.to_owned(),
        turn: 1,
        at: 2_000,
        speaker_id: Some("7".to_owned()),
        speaker: "Anna".to_owned(),
        text: text.to_owned(),
        outcome: "spoken".to_owned(),
        visibility,
        ..Utterance::default()
    };
    store(handles).append(scope, vec![said]).await.unwrap();
}

/// Stores an entity that is called like its id.
pub async fn entity(handles: &Handles, scope: &Scope, id: &str, visibility: Visibility) {
    let entity = Entity {
        id: id.to_owned(),
        kind: EntityKind::Location,
        name: id.to_owned(),
        aliases: Vec::new(),
        description: format!("All about {id}."),
        attributes: Default::default(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility,
        source: None,
    };
    store(handles).apply(scope, vec![Change::Put(entity)]).await.unwrap();
}

//! A person's words in the states of sessions in the store.
//!
//! **Never**: changes a session that another program on this machine plays: it would write them
//! again.

use std::path::Path;

use super::{
    KeptFiles, KeptOf,
    failure::PrivacyError,
    files::{Unforgotten, is_from, is_meant, of_files},
};
use crate::{
    campaign::{GuildError, GuildSettings, KeptError, KeptStore},
    domain::{Owner, Person},
    memory::{ForgetFrom, MemoryStore, NodeStatus, shard_of},
};

/// Removes the exchanges that `person` began from the sessions `only` of the store, or from all of
/// the owner's if it is empty. `is_open` names sessions of this program. Continues after errors,
/// except of the store.
pub async fn forget_stored(
    at: &KeptStore<'_>,
    person: &Person,
    from: &ForgetFrom,
    only: &[String],
    is_open: impl Fn(&str) -> bool + Send,
) -> Result<(), PrivacyError> {
    let (mut sessions, mut first) = (Vec::new(), None);
    for id in at.ids(from.owner).await? {
        if !is_meant(&id, from, only) {
            continue;
        }
        match at.forget(&id, person, is_open(&id)).await {
            Ok(()) => {}
            Err(KeptError::Store(error)) => return Err(error.into()),
            Err(error) => {
                sessions.push(id);
                first.get_or_insert(Box::new(error));
            }
        }
    }
    first.map_or(Ok(()), |first| Err(Unforgotten { sessions, first }.into()))
}

/// The session of `owner` that a node plays, perhaps on another machine.
///
/// # Errors
/// The store does not answer, or has unreadable settings.
pub async fn played_by_node(
    store: &dyn MemoryStore,
    owner: Owner,
) -> Result<Option<String>, GuildError> {
    let Owner::Guild(guild) = owner else { return Ok(None) };
    let serves = |it: &NodeStatus| {
        let shard = shard_of(guild, it.node.shards);
        it.leases.iter().any(|lease| lease.shard == shard)
    };
    if !store.nodes().await?.iter().any(serves) {
        return Ok(None);
    }
    let Some(record) = store.guild(guild).await? else { return Ok(None) };
    let settings = GuildSettings::read(&record.text).map_err(GuildError::Settings)?;
    Ok(settings.running.map(|running| running.session))
}

/// Failures of files and of the store in one error.
pub fn both(
    files: Result<(), Unforgotten>,
    stored: Result<(), PrivacyError>,
) -> Result<(), PrivacyError> {
    match (files, stored) {
        (Ok(()), stored) => stored,
        (Err(mut left), Err(PrivacyError::Kept(more))) => {
            left.sessions.extend(more.sessions);
            Err(left.into())
        }
        (Err(left), _) => Err(left.into()),
    }
}

/// Lists sessions whose files or state in the store mention `person`. Goes on after an unreadable
/// one.
pub async fn kept_of(
    store: &dyn MemoryStore,
    data_dir: &Path,
    person: &Person,
    from: &ForgetFrom,
) -> KeptFiles {
    let mut kept = of_files(data_dir, person, from);
    let at = KeptStore::new(store, data_dir);
    let ids = at.ids(from.owner).await.unwrap_or_else(|error| {
        kept.unread.get_or_insert(error.into());
        Vec::new()
    });
    for session in ids.into_iter().filter(|id| is_from(id, from)) {
        match at.read(&session).await {
            Ok(stored) => add(&mut kept.of, session, stored.messages_of(person)),
            Err(error) => _ = kept.unread.get_or_insert(error),
        }
    }
    kept
}

/// Adds `messages` to what is known of a session.
fn add(all: &mut Vec<KeptOf>, session: String, messages: usize) {
    match all.iter_mut().find(|of| of.session == session) {
        Some(of) => of.messages += messages,
        None if messages > 0 => all.push(KeptOf { session, messages, calls: 0, parts: 0 }),
        None => {}
    }
}

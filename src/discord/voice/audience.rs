//! Users who may be heard, and the user of each RTP source.
//!
//! Entry type: [`Audience`]. Set by the guild's task, read for every packet. **Never**: lets an
//! unknown voice through.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub type UserId = u64;

/// Users who may be heard. Clones share state.
#[derive(Clone, Debug, Default)]
pub struct Audience(Arc<Mutex<Members>>);

#[derive(Debug, Default)]
struct Members {
    received: HashSet<UserId>,
    /// RTP source to user, from Discord's speaking updates.
    sources: HashMap<u32, UserId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Belongs to this user, who may be heard.
    Receive(UserId),
    /// Belongs to a user who may not be heard.
    Ignore,
    /// The source's user is not known yet.
    Unknown,
}

impl Audience {
    /// Replaces the audience.
    pub fn set(&self, users: impl IntoIterator<Item = UserId>) {
        self.known().received = users.into_iter().collect();
    }

    /// Notes that `source` is `user`'s voice.
    pub fn is_voice_of(&self, source: u32, user: UserId) {
        let mut known = self.known();
        known.sources.retain(|_, known| *known != user);
        known.sources.insert(source, user);
    }

    /// Forgets the source of `user`: another user may get it.
    pub fn left(&self, user: UserId) {
        self.known().sources.retain(|_, known| *known != user);
    }

    pub fn verdict(&self, source: u32) -> Verdict {
        let known = self.known();
        match known.sources.get(&source) {
            Some(user) if known.received.contains(user) => Verdict::Receive(*user),
            Some(_) => Verdict::Ignore,
            None => Verdict::Unknown,
        }
    }

    pub fn receives(&self, user: UserId) -> bool {
        self.known().received.contains(&user)
    }

    /// Held for a look-up, never across an await.
    fn known(&self) -> MutexGuard<'_, Members> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_heard_once_its_owner_is_notified() {
        let audience = Audience::default();
        assert_eq!(audience.verdict(7), Verdict::Unknown);
        audience.is_voice_of(7, 1);
        assert_eq!(audience.verdict(7), Verdict::Ignore);
        audience.set([1]);
        assert_eq!(audience.verdict(7), Verdict::Receive(1));
        audience.is_voice_of(8, 1);
        assert_eq!(
            (audience.verdict(7), audience.verdict(8)),
            (Verdict::Unknown, Verdict::Receive(1))
        );
        audience.set([]);
        assert_eq!(audience.verdict(8), Verdict::Ignore);
        audience.left(1);
        assert_eq!(audience.verdict(8), Verdict::Unknown);
    }
}

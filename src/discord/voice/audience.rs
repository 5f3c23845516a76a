//! Users who may be heard, and the user of each RTP source.
//!
//! Entry type: [`Audience`]. Changed by the guild's task, asked for every packet.
//! **Never**: lets an unknown voice through.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A user of Discord.
pub type UserId = u64;

/// Users who may be heard. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Audience(Arc<Mutex<Members>>);

#[derive(Debug, Default)]
struct Members {
    received: HashSet<UserId>,
    /// RTP source to user, from Discord's speaking updates.
    sources: HashMap<u32, UserId>,
}

/// Decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is this user's, who may be heard.
    Receive(UserId),
    /// It is of somebody who is not to be heard.
    Ignore,
    /// Nobody has said whose it is.
    Unknown,
}

impl Audience {
    /// From now on exactly `users` are heard.
    pub fn set(&self, users: impl IntoIterator<Item = UserId>) {
        self.known().received = users.into_iter().collect();
    }

    /// `source` is `user`'s voice.
    pub fn is_voice_of(&self, source: u32, user: UserId) {
        let mut known = self.known();
        known.sources.retain(|_, known| *known != user);
        known.sources.insert(source, user);
    }

    /// `user` has left: their source may become somebody else's.
    pub fn left(&self, user: UserId) {
        self.known().sources.retain(|_, known| *known != user);
    }

    /// Decision about a packet of the RTP source `source`.
    pub fn verdict(&self, source: u32) -> Verdict {
        let known = self.known();
        match known.sources.get(&source) {
            Some(user) if known.received.contains(user) => Verdict::Receive(*user),
            Some(_) => Verdict::Ignore,
            None => Verdict::Unknown,
        }
    }

    /// True if `user` may be heard.
    pub fn receives(&self, user: UserId) -> bool {
        self.known().received.contains(&user)
    }

    /// Held for a look-up only, never across an await.
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

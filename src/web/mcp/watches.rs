//! Open streams of changes, by owner and token. Entry type: [`Watches`]. Its bounds limit the queries
//! that programs outside can cause; no owner's tokens take the streams of all others.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::domain::Owner;

/// Most streams of one token.
pub const TOKEN_MAX: usize = 4;
/// Most streams of an owner's tokens.
pub const OWNER_MAX: usize = 16;
/// Most streams of all tokens.
pub const ALL_MAX: usize = 32;

/// Open streams by owner and token id. Cloning shares them.
#[derive(Clone, Default)]
pub struct Watches(Arc<Mutex<Open>>);

type Open = BTreeMap<(Owner, String), usize>;

impl Watches {
    /// `None`: as many are open as may be.
    pub fn admit(&self, owner: Owner, token: &str) -> Option<WatchPermit> {
        let mut open = self.open();
        let token = (owner, token.to_owned());
        let own = open.get(&token).copied().unwrap_or_default();
        let of_owner = open.iter().filter(|((of, _), _)| *of == owner);
        let of_owner: usize = of_owner.map(|(_, streams)| streams).sum();
        let all: usize = open.values().sum();
        if own >= TOKEN_MAX || of_owner >= OWNER_MAX || all >= ALL_MAX {
            return None;
        }
        open.insert(token.clone(), own + 1);
        Some(WatchPermit { watches: self.clone(), token })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a stream as open until it is dropped.
pub struct WatchPermit {
    watches: Watches,
    token: (Owner, String),
}

impl Drop for WatchPermit {
    fn drop(&mut self) {
        let mut open = self.watches.open();
        match open.get_mut(&self.token) {
            Some(own) if *own > 1 => *own -= 1,
            _ => _ = open.remove(&self.token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_bounded_and_given_back() {
        let watches = Watches::default();
        let many = |owner, from: usize, streams: usize| -> Vec<WatchPermit> {
            let tokens = (from..from + streams).map(|token| token.to_string());
            tokens.map(|token| watches.admit(owner, &token).unwrap()).collect()
        };
        let (one, two, three) = (Owner::Guild(1), Owner::Guild(2), Owner::Local);
        let own: Vec<_> = (0..TOKEN_MAX).map(|_| watches.admit(one, "a").unwrap()).collect();
        assert!(watches.admit(one, "a").is_none());
        let of_one = many(one, 0, OWNER_MAX - TOKEN_MAX);
        assert!(watches.admit(one, "b").is_none(), "the tokens of an owner");
        let of_two = many(two, 0, ALL_MAX - OWNER_MAX);
        assert!(watches.admit(three, "b").is_none(), "all tokens");
        drop(own);
        assert!(watches.admit(three, "b").is_some() && watches.admit(one, "b").is_some());
        drop((of_one, of_two));
        assert!(watches.open().is_empty());
    }
}

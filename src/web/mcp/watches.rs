//! Open streams of changes, by token. Entry type: [`Watches`]. [`TOKEN_MAX`] and [`ALL_MAX`] bound
//! the queries that programs outside can cause.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Most streams of one token.
pub const TOKEN_MAX: usize = 4;
/// Most streams of all tokens.
pub const ALL_MAX: usize = 32;

/// Open streams by token id. Cloning shares them.
#[derive(Clone, Default)]
pub struct Watches(Arc<Mutex<BTreeMap<String, usize>>>);

impl Watches {
    /// `None`: as many are open as may be.
    pub fn admit(&self, token: &str) -> Option<WatchPermit> {
        let mut open = self.open();
        let own = open.get(token).copied().unwrap_or_default();
        if own >= TOKEN_MAX || open.values().sum::<usize>() >= ALL_MAX {
            return None;
        }
        open.insert(token.to_owned(), own + 1);
        Some(WatchPermit { watches: self.clone(), token: token.to_owned() })
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a stream as open until it is dropped.
pub struct WatchPermit {
    watches: Watches,
    token: String,
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
        let own: Vec<_> = (0..TOKEN_MAX).map(|_| watches.admit("a").unwrap()).collect();
        assert!(watches.admit("a").is_none());
        let others: Vec<_> =
            (TOKEN_MAX..ALL_MAX).map(|other| watches.admit(&other.to_string()).unwrap()).collect();
        assert!(watches.admit("b").is_none());
        drop(own);
        assert!(watches.admit("b").is_some());
        drop(others);
        assert!(watches.open().is_empty());
    }
}

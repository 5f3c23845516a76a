//! Text that Aura's sockets took within the last minute, because the service limits it by socket.
//!
//! Entry type: [`Spent`]. Voices are counted by the address of their sockets.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);
/// Most sentences and characters of a socket within a minute. Beyond it the service speaks none, or
/// closes the socket.
const SENTENCES: usize = 20;
const CHARACTERS: usize = 2_400;

#[derive(Default)]
pub struct Spent(Mutex<HashMap<String, Sockets>>);

/// Sockets of one address.
#[derive(Default)]
struct Sockets {
    /// Number of the one that turns begin on.
    current: u32,
    /// Its sentences of the last minute, with their characters. Those of turns side by side count
    /// as one socket's.
    taken: VecDeque<(Instant, usize)>,
}

impl Spent {
    /// Number of the socket that a turn may begin on: one that has taken less than half of its most
    /// within the minute before `now`.
    pub fn socket(&self, address: &str, now: Instant) -> u32 {
        let mut all = self.all();
        let sockets = all.entry(address.to_owned()).or_default();
        sockets.forget(now);
        if sockets.taken.len() * 2 >= SENTENCES || sockets.characters() * 2 >= CHARACTERS {
            sockets.current = sockets.current.wrapping_add(1);
            sockets.taken.clear();
        }
        sockets.current
    }

    /// Counts a sentence of this many `characters`; false if it is one too many.
    pub fn take(&self, address: &str, characters: usize, now: Instant) -> bool {
        let mut all = self.all();
        let sockets = all.entry(address.to_owned()).or_default();
        sockets.forget(now);
        sockets.taken.push_back((now, characters));
        sockets.taken.len() <= SENTENCES && sockets.characters() <= CHARACTERS
    }

    /// Never held across an await.
    fn all(&self) -> MutexGuard<'_, HashMap<String, Sockets>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sockets {
    fn forget(&mut self, now: Instant) {
        self.taken.retain(|(at, _)| *at + MINUTE > now);
    }

    fn characters(&self) -> usize {
        self.taken.iter().map(|(_, characters)| characters).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minute_passes_and_much_text_counts() {
        let (spent, now) = (Spent::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        assert!((0..20).all(|_| spent.take("a", 1, now)));
        assert!(!spent.take("a", 1, after(59)));
        assert_eq!(spent.socket("b", now), 0, "another voice has its own");
        assert_eq!(spent.socket("a", after(59)), 1);
        assert_eq!(spent.socket("a", after(59)), 1);
        assert!(spent.take("a", 1_200, after(60)));
        assert_eq!(spent.socket("a", after(119)), 2);
        assert!(spent.take("a", 1_200, after(120)));
        assert!(!spent.take("a", 1_201, after(121)));
        assert_eq!(spent.socket("a", after(181)), 2, "a minute later all of it is free again");
    }
}

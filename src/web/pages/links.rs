//! One-time links by which a browser gets its pass. Entry type: [`Links`].
//!
//! A link's token is in its fragment, which no browser sends or logs; the page posts it. Only its
//! hash is kept, in memory: links end with the program, and after [`LIFE`].

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::web::{rates::WrongTokens, refusal::Refusal};

/// Unused links; the oldest one gives way.
const OPEN_MAX: usize = 16;
/// Time in which a link can be opened: a printed one may be read by others later.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// Wrong tokens in a minute that are answered 401; further ones are answered 429.
const WRONG_MAX: usize = 10;

/// Unused links. Cloning shares them.
#[derive(Clone)]
pub struct Links(Arc<Shared>);

struct Shared {
    /// Hashes of their tokens and when they were made, the oldest first.
    open: Mutex<VecDeque<([u8; 32], Instant)>>,
    wrong: WrongTokens,
    /// Browsers that got in.
    browsers: AtomicU32,
}

impl Default for Links {
    fn default() -> Self {
        let wrong = WrongTokens::new(WRONG_MAX);
        let (open, browsers) = (Mutex::default(), AtomicU32::default());
        Self(Arc::new(Shared { open, wrong, browsers }))
    }
}

impl Links {
    /// A new link to the listener at `base` ("http://host:port"). It is a secret until it is used or
    /// too old.
    pub fn open(&self, base: &str, now: Instant) -> String {
        let token = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= OPEN_MAX {
            open.pop_front();
        }
        open.push_back((hash(&token), now));
        format!("{base}/#token={token}")
    }

    /// Uses up the link with `token`; returns the number of its player. A right token always gets
    /// in, however many wrong ones come.
    pub fn take(&self, token: &str, now: Instant) -> Option<u32> {
        let wanted = hash(token);
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, made)| now.saturating_duration_since(*made) < LIFE);
        let at = open.iter().position(|(it, _)| *it == wanted)?;
        open.remove(at);
        Some(self.0.browsers.fetch_add(1, Ordering::Relaxed).saturating_add(1))
    }

    /// Counts a wrong token; returns its refusal.
    pub fn wrong(&self, now: Instant) -> Refusal {
        match self.0.wrong.count(now) {
            true => Refusal::UsedLink,
            false => Refusal::ManyWrong,
        }
    }
}

/// Compared instead of the token, so that times tell nothing.
fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(link: &str) -> &str {
        link.strip_prefix("http://127.0.0.1:4100/#token=").unwrap()
    }

    const BASE: &str = "http://127.0.0.1:4100";

    #[test]
    fn link_works_once() {
        let (links, now) = (Links::default(), Instant::now());
        let [first, second] = [(); 2].map(|()| links.open(BASE, now));
        assert_ne!(first, second);
        assert_eq!(token(&first).len(), 43);
        assert_eq!(links.take(token(&second), now), Some(1));
        assert_eq!(links.take(token(&second), now), None);
        assert_eq!(links.take("", now), None);
        assert_eq!(links.take(token(&first), now), Some(2));
    }

    #[test]
    fn link_works_for_ten_minutes() {
        let (links, now) = (Links::default(), Instant::now());
        let [first, second] = [(); 2].map(|()| links.open(BASE, now));
        let late = now + LIFE;
        assert_eq!(links.take(token(&first), late - Duration::from_millis(1)), Some(1));
        let third = links.open(BASE, late);
        assert_eq!(links.take(token(&second), late), None);
        assert_eq!(links.take(token(&third), late), Some(2));
    }

    #[test]
    fn unused_links_are_bounded() {
        let (links, now) = (Links::default(), Instant::now());
        let all: Vec<_> = (0..=OPEN_MAX).map(|_| links.open(BASE, now)).collect();
        assert_eq!(links.take(token(&all[0]), now), None);
        assert_eq!(links.take(token(&all[1]), now), Some(1));
    }
}

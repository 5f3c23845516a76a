//! Open sockets, up to a bound: when all places are taken, a stranger gives way to a newcomer.
//!
//! Entry type: [`Sockets`]. A socket is trusted while it carries a whole request with a valid token.
//! Of the others the longest open one is closed first: of strangers, then of those with a valid
//! token whose body has not come yet. So neither connections that say nothing nor half requests keep
//! out a client with a token. A newcomer is turned away only when every place is a trusted one's.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub struct Sockets {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// The longest open one first.
    by_age: BTreeMap<u64, Arc<Socket>>,
}

#[derive(Debug, Default)]
pub struct Socket {
    shed: CancellationToken,
    /// A request has come.
    has_asked: AtomicBool,
    /// Requests with a valid token under way.
    entered: AtomicUsize,
    /// Those whose body has come.
    trusted: AtomicUsize,
}

/// Rank of a socket; the lowest gives way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SocketTrust {
    Stranger,
    Entered,
    Trusted,
}

/// A place among the open sockets, free again once dropped.
#[derive(Debug)]
pub struct Admitted {
    sockets: Arc<Sockets>,
    id: u64,
    socket: Arc<Socket>,
}

/// Keeps the standing of its socket.
#[derive(Debug)]
pub struct Trust(Arc<Socket>, SocketTrust);

impl Sockets {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// `None`: all places are taken by trusted sockets.
    pub fn admit(self: &Arc<Self>) -> Option<Admitted> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.by_age.len() >= self.most {
            let all = open.by_age.iter().map(|(id, socket)| (socket.standing(), *id));
            let (_, last) = all.min().filter(|(standing, _)| *standing < SocketTrust::Trusted)?;
            if let Some(socket) = open.by_age.remove(&last) {
                socket.shed.cancel();
            }
        }
        let (id, socket) = (open.next, Arc::<Socket>::default());
        open.next += 1;
        open.by_age.insert(id, Arc::clone(&socket));
        drop(open);
        Some(Admitted { sockets: Arc::clone(self), id, socket })
    }
}

impl Socket {
    fn standing(&self) -> SocketTrust {
        let is_any = |count: &AtomicUsize| count.load(Ordering::Relaxed) > 0;
        match () {
            () if is_any(&self.trusted) => SocketTrust::Trusted,
            () if is_any(&self.entered) => SocketTrust::Entered,
            () => SocketTrust::Stranger,
        }
    }

    pub fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// Notes that a request has come.
    pub fn ask(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
    }

    /// A request with a valid token has begun.
    pub fn enter(self: &Arc<Self>) -> Trust {
        self.entered.fetch_add(1, Ordering::Relaxed);
        Trust(Arc::clone(self), SocketTrust::Entered)
    }

    /// A request with a valid token has come whole.
    pub fn trust(self: &Arc<Self>) -> Trust {
        self.trusted.fetch_add(1, Ordering::Relaxed);
        Trust(Arc::clone(self), SocketTrust::Trusted)
    }
}

impl Admitted {
    pub const fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    /// Returns once the socket must give way.
    pub async fn shed(&self) {
        self.socket.shed.cancelled().await;
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.sockets.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.by_age.remove(&self.id);
    }
}

impl Drop for Trust {
    fn drop(&mut self) {
        let count = match self.1 {
            SocketTrust::Trusted => &self.0.trusted,
            SocketTrust::Entered | SocketTrust::Stranger => &self.0.entered,
        };
        count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_shed(admitted: &Admitted) -> bool {
        admitted.socket.shed.is_cancelled()
    }

    #[test]
    fn oldest_stranger_gives_way() {
        let sockets = Sockets::new(3);
        let open = [0; 3].map(|_| sockets.admit().unwrap());
        let trust = open[0].socket().trust();
        let fourth = sockets.admit().unwrap();
        assert_eq!(open.each_ref().map(is_shed), [false, true, false]);
        drop(trust);
        let fifth = sockets.admit().unwrap();
        assert_eq!(open.each_ref().map(is_shed), [true, true, false]);
        assert!(!is_shed(&fourth) && !is_shed(&fifth));
    }

    #[test]
    fn half_requests_give_way_after_strangers() {
        let sockets = Sockets::new(3);
        let open = [0; 3].map(|_| sockets.admit().unwrap());
        let _half = [open[0].socket().enter(), open[2].socket().enter()];
        let whole = open[2].socket().trust();
        let fourth = sockets.admit().unwrap();
        assert_eq!(open.each_ref().map(is_shed), [false, true, false]);
        let _whole = [whole, fourth.socket().trust()];
        let fifth = sockets.admit().unwrap();
        assert_eq!(open.each_ref().map(is_shed), [true, true, false]);
        let _fifth = fifth.socket().trust();
        assert!(sockets.admit().is_none(), "all have come whole");
    }

    #[test]
    fn trusted_sockets_stay_when_all_are() {
        let sockets = Sockets::new(2);
        let open = [0; 2].map(|_| sockets.admit().unwrap());
        let _trust = open.each_ref().map(|it| it.socket().trust());
        assert!(sockets.admit().is_none());
        let [first, second] = open;
        drop(first);
        assert!(sockets.admit().is_some(), "its place is free");
        assert!(!is_shed(&second));
    }
}

//! Open sockets, up to a bound: when all places are taken, a stranger gives way to a newcomer.
//!
//! Entry type: [`Sockets`]. A socket is trusted while it carries a whole request with a valid token,
//! or a page with a pass. Of the others the longest open one is closed first: of strangers, then of
//! those with a valid token whose body has not come yet. So neither connections that say nothing nor
//! half requests keep out a client with a token. A newcomer is turned away only when every place is
//! a trusted one's.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
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
    /// Shared by requests with a valid token under way.
    entered: Arc<()>,
    /// Shared by those whose body has come.
    trusted: Arc<()>,
}

/// A place among the open sockets, free again once dropped.
#[derive(Debug)]
pub struct Admitted {
    sockets: Arc<Sockets>,
    id: u64,
    socket: Arc<Socket>,
    peer: Option<IpAddr>,
}

impl Sockets {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// `None`: all places are taken by trusted sockets.
    pub fn admit(self: &Arc<Self>) -> Option<Admitted> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.by_age.len() >= self.most {
            let all = open.by_age.iter().map(|(id, socket)| (socket.standing(), *id));
            let (_, last) = all.min().filter(|((is_trusted, _), _)| !is_trusted)?;
            if let Some(socket) = open.by_age.remove(&last) {
                socket.shed.cancel();
            }
        }
        let (id, socket) = (open.next, Arc::<Socket>::default());
        open.next += 1;
        open.by_age.insert(id, Arc::clone(&socket));
        drop(open);
        Some(Admitted { sockets: Arc::clone(self), id, socket, peer: None })
    }
}

impl Socket {
    /// True for a trusted socket, then for one that carries a request with a valid token at all;
    /// the lowest pair gives way first.
    fn standing(&self) -> (bool, bool) {
        let is_shared = |mark: &Arc<()>| Arc::strong_count(mark) > 1;
        (is_shared(&self.trusted), is_shared(&self.entered))
    }

    pub fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// Notes that a request has come.
    pub fn ask(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
    }

    /// A request with a valid token has begun; it keeps the mark until it is answered.
    pub fn enter(&self) -> Arc<()> {
        Arc::clone(&self.entered)
    }

    /// A request with a valid token has come whole; it keeps the mark until it is answered.
    pub fn trust(&self) -> Arc<()> {
        Arc::clone(&self.trusted)
    }
}

impl Admitted {
    pub const fn socket(&self) -> &Arc<Socket> {
        &self.socket
    }

    /// For a connection from `peer`.
    pub fn with_peer(mut self, peer: IpAddr) -> Self {
        self.peer = Some(peer);
        self
    }

    /// Address at the other end; `None`: not known.
    pub const fn peer(&self) -> Option<IpAddr> {
        self.peer
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

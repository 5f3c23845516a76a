//! Sockets without a turn, by address.
//!
//! Entry type: [`Idle`]. Each is read by a task of its own, so that one that the service closes is
//! never given out, and closed after [`IDLE`]. **Never**: gives a socket to two turns.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::Url;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::task::AbortOnDropHandle;

use super::stream::Socket;
use crate::provider::bounds::{Count, EVENTS};

/// Idle time after which a socket is closed.
const IDLE: Duration = Duration::from_secs(20);
/// Most idle sockets; the oldest is closed for another one.
const MOST: usize = 32;

/// Oldest first.
#[derive(Default)]
pub struct Idle(Mutex<Vec<Waiting>>);

/// An idle socket in a task that reads it; dropping it closes the socket.
struct Waiting {
    address: Url,
    /// Dropping it makes the task hand the socket over.
    wanted: oneshot::Sender<()>,
    task: AbortOnDropHandle<Option<Socket>>,
}

pub type KeepAlive = Option<(Message, Duration)>;

impl Idle {
    pub fn put(&self, address: Url, socket: Socket, keep_alive: KeepAlive) {
        let (wanted, is_wanted) = oneshot::channel();
        let task = AbortOnDropHandle::new(tokio::spawn(alive(socket, keep_alive, is_wanted)));
        let mut sockets = self.sockets();
        sockets.retain(|waiting| !waiting.task.is_finished());
        if sockets.len() >= MOST {
            sockets.remove(0);
        }
        sockets.push(Waiting { address, wanted, task });
    }

    pub fn has(&self, address: &Url) -> bool {
        let is_it = |it: &Waiting| it.address == *address && !it.task.is_finished();
        self.sockets().iter().any(is_it)
    }

    /// The last used open socket with this address. Not cancel safe: it is closed then.
    pub async fn take(&self, address: &Url) -> Option<Socket> {
        loop {
            let Waiting { wanted, task, .. } = self.remove(address)?;
            drop(wanted);
            if let Ok(Some(socket)) = task.await {
                return Some(socket);
            }
        }
    }

    fn remove(&self, address: &Url) -> Option<Waiting> {
        let mut sockets = self.sockets();
        let at = sockets.iter().rposition(|waiting| waiting.address == *address)?;
        Some(sockets.remove(at))
    }

    /// Closes the oldest to free a stream.
    pub fn give_one_up(&self) {
        let mut sockets = self.sockets();
        // Those that have ended hold none.
        sockets.retain(|waiting| !waiting.task.is_finished());
        if !sockets.is_empty() {
            sockets.remove(0);
        }
    }

    /// Never held across an await.
    fn sockets(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps `socket` alive until it is wanted, idle for too long or closed.
async fn alive(
    mut socket: Socket,
    keep_alive: KeepAlive,
    mut wanted: oneshot::Receiver<()>,
) -> Option<Socket> {
    let until = Instant::now() + IDLE;
    let every = keep_alive.as_ref().map_or(IDLE, |(_, every)| *every);
    let mut sign = Instant::now() + every;
    let mut messages = Count::within(EVENTS);
    loop {
        tokio::select! {
            biased;
            _ = &mut wanted => return Some(socket),
            () = sleep_until(until) => {
                // A turn that wants it opens another one, and does not wait for its end.
                tokio::select! {
                    _ = &mut wanted => {}
                    () = socket.close() => {}
                }
                return None;
            }
            () = sleep_until(sign) => {
                socket.send(keep_alive.as_ref().map(|(message, _)| message.clone()));
                sign = Instant::now() + every;
            }
            // After the clock, because messages without a pause would starve it. Their turn is
            // over.
            said = socket.next() => {
                said.ok()?;
                messages.add(1).ok()?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::{JoinHandle, yield_now};

    use super::*;

    #[tokio::test]
    async fn socket_that_has_ended_frees_no_stream() {
        let idle = Idle::default();
        let waiting = |task: JoinHandle<Option<Socket>>| Waiting {
            address: Url::parse("http://127.0.0.1:9").unwrap(),
            wanted: oneshot::channel().0,
            task: AbortOnDropHandle::new(task),
        };
        let ended = tokio::spawn(async { None });
        while !ended.is_finished() {
            yield_now().await;
        }
        idle.sockets().extend([waiting(ended), waiting(tokio::spawn(pending()))]);
        idle.give_one_up();
        assert!(idle.sockets().is_empty(), "the open one is closed");
    }
}

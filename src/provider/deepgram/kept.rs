//! Idle sockets of Nova, each for its speaker's next utterance.
//!
//! Entry type: [`Kept`]. **Never**: gives a speaker's socket to another, or to two.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};
use tokio_util::task::AbortOnDropHandle;

use super::socket::Socket;

/// Idle time after which a socket is closed.
const IDLE: Duration = Duration::from_secs(20);
/// Time between two keep-alives; the service closes after 10 s without one.
pub const KEEP_ALIVE: Duration = Duration::from_secs(4);
pub const ALIVE: &str = "KeepAlive";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpeakerAt {
    /// Number of the table in this program.
    pub table: u64,
    pub speaker: u64,
}

#[derive(Default)]
pub struct Kept(Mutex<HashMap<SpeakerAt, Waiting>>);

/// An idle socket in a task that keeps it alive; dropping it closes the socket.
struct Waiting {
    /// Dropping it makes the task hand the socket over.
    wanted: oneshot::Sender<()>,
    task: AbortOnDropHandle<Option<Socket>>,
}

impl Kept {
    pub fn put(&self, whose: SpeakerAt, socket: Socket) {
        let (wanted, is_wanted) = oneshot::channel();
        let task = AbortOnDropHandle::new(tokio::spawn(alive(socket, is_wanted)));
        let mut sockets = self.sockets();
        sockets.retain(|_, waiting| !waiting.task.is_finished());
        sockets.insert(whose, Waiting { wanted, task });
    }

    /// The socket of `whose`, if it is still open.
    pub async fn take(&self, whose: SpeakerAt) -> Option<Socket> {
        let Waiting { wanted, task } = self.sockets().remove(&whose)?;
        drop(wanted);
        task.await.ok().flatten()
    }

    /// Closes one of them to free a stream.
    pub fn give_one_up(&self) {
        let mut sockets = self.sockets();
        // Those that have ended hold none.
        sockets.retain(|_, waiting| !waiting.task.is_finished());
        if let Some(whose) = sockets.keys().next().copied() {
            sockets.remove(&whose);
        }
    }

    pub fn forget(&self, table: u64) {
        self.sockets().retain(|whose, _| whose.table != table);
    }

    /// Never held across an await.
    fn sockets(&self) -> MutexGuard<'_, HashMap<SpeakerAt, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps `socket` alive until it is wanted, idle for too long or closed.
async fn alive(mut socket: Socket, mut wanted: oneshot::Receiver<()>) -> Option<Socket> {
    let until = Instant::now() + IDLE;
    let mut sign = Instant::now() + KEEP_ALIVE;
    socket.begin();
    loop {
        tokio::select! {
            biased;
            _ = &mut wanted => return Some(socket),
            () = sleep_until(until) => {
                socket.close().await;
                return None;
            }
            () = sleep_until(sign) => {
                if socket.order(ALIVE).await.is_err() {
                    return None;
                }
                sign = Instant::now() + KEEP_ALIVE;
            }
            // After the clock, because messages without a pause would starve it. Their utterance is
            // over.
            said = socket.next() => if said.is_err() { return None },
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
        let kept = Kept::default();
        let waiting = |task: JoinHandle<Option<Socket>>| Waiting {
            wanted: oneshot::channel().0,
            task: AbortOnDropHandle::new(task),
        };
        let ended = tokio::spawn(async { None });
        while !ended.is_finished() {
            yield_now().await;
        }
        let at = |speaker| SpeakerAt { table: 0, speaker };
        let open = tokio::spawn(pending());
        kept.sockets().extend([(at(0), waiting(ended)), (at(1), waiting(open))]);
        kept.give_one_up();
        assert!(kept.sockets().is_empty(), "the open one is closed");
    }
}

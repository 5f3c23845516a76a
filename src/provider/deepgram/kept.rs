//! Sockets that wait for what their speaker says next.
//!
//! Entry type: [`Kept`]. **Never**: gives a speaker's socket to another one, or one to two.

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

/// A socket is closed after so long without a voice.
const IDLE: Duration = Duration::from_secs(20);
/// Time between two signs of life; after 10 s without one the service closes.
pub const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// The order that is one.
pub const ALIVE: &str = "KeepAlive";

/// Owner of a socket: one speaker of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpeakerAt {
    /// The table, by a number of its own in this program.
    pub table: u64,
    /// The speaker there.
    pub speaker: u64,
}

/// Sockets by whose they are.
#[derive(Default)]
pub struct Kept(Mutex<HashMap<SpeakerAt, Waiting>>);

/// One that waits, with a task that keeps it alive; dropping it closes the socket.
struct Waiting {
    /// Dropping it has the task hand the socket over.
    wanted: oneshot::Sender<()>,
    task: AbortOnDropHandle<Option<Socket>>,
}

impl Kept {
    /// Keeps `socket` for `whose`.
    pub fn put(&self, whose: SpeakerAt, socket: Socket) {
        let (wanted, is_wanted) = oneshot::channel();
        let task = AbortOnDropHandle::new(tokio::spawn(alive(socket, is_wanted)));
        let mut sockets = self.sockets();
        sockets.retain(|_, waiting| !waiting.task.is_finished());
        sockets.insert(whose, Waiting { wanted, task });
    }

    /// The socket of `whose`, if it is still good.
    pub async fn take(&self, whose: SpeakerAt) -> Option<Socket> {
        let Waiting { wanted, task } = self.sockets().remove(&whose)?;
        drop(wanted);
        task.await.ok().flatten()
    }

    /// Closes one of them, so that there is a place for another.
    pub fn give_one_up(&self) {
        let mut sockets = self.sockets();
        if let Some(whose) = sockets.keys().next().copied() {
            sockets.remove(&whose);
        }
    }

    /// Closes those of `table`, which is over.
    pub fn forget(&self, table: u64) {
        self.sockets().retain(|whose, _| whose.table != table);
    }

    /// Never held across an await.
    fn sockets(&self) -> MutexGuard<'_, HashMap<SpeakerAt, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps `socket` alive until it is wanted, or is not for too long, or is gone.
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
            // After the clock, which messages without a pause would hold up. They are late: their
            // utterance is over.
            said = socket.next() => if said.is_err() { return None },
        }
    }
}

//! State that the tasks of one player share, and how the test waits for it.
//!
//! Entry: [`Shared::change`], [`Shared::read`], [`Shared::wait`].
//! Never does IO.

use super::{Seat, dave::Dave, memory::Memory};
use crate::voice::transport::{Rtp, Transport};
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    net::UdpSocket,
    sync::{oneshot, watch},
    time::timeout,
};

/// An order to the line.
pub(super) enum Command {
    /// Says that this player begins or stops to speak; answered when it is written.
    Speaking(bool, oneshot::Sender<()>),
    /// Another server.
    Server {
        /// Its address.
        endpoint: String,
        /// Token for it.
        token: String,
    },
    /// Another place.
    Seat(Seat),
}

/// The line to the voice server, while it is up.
pub(super) struct Link {
    /// Connected to the server.
    pub socket: Arc<UdpSocket>,
    /// Encrypts and decrypts.
    pub transport: Transport,
    /// Own source.
    pub ssrc: u32,
}

/// Sound of a user not known yet.
pub(super) struct Unclaimed {
    /// Time of arrival.
    pub arrival: Instant,
    /// Its header.
    pub rtp: Rtp,
    /// Frame, encrypted end to end.
    pub frame: Vec<u8>,
}

/// The state of a player.
#[derive(Default)]
pub(super) struct State {
    /// While it is up.
    pub link: Option<Link>,
    /// End-to-end encryption.
    pub dave: Dave,
    /// User of an SSRC.
    pub sources: HashMap<u32, u64>,
    /// Sound that came before the speaking update that says whose it is.
    pub unclaimed: VecDeque<Unclaimed>,
    /// Sound that was heard.
    pub memory: Memory,
    /// Number of servers the player was sent to and has not joined yet.
    pub moves: u64,
    /// Error that keeps the line down.
    pub failure: Option<String>,
    /// Close code of the last connection.
    pub close_code: Option<u16>,
    /// Packets of unknown sources, and those that did not decrypt.
    pub not_understood: u64,
}

/// The state, and word of its changes.
pub(super) struct Shared {
    /// Locked for a moment.
    state: Mutex<State>,
    /// Changes with the state.
    changed: watch::Sender<()>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: watch::Sender::new(()) }
    }
}

impl Shared {
    /// Locks; a panic elsewhere is reported elsewhere.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something and tells those who wait.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.state());
        self.changed.send_replace(());
        result
    }

    /// Reads something.
    pub(super) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state())
    }

    /// Waits until `found` finds something.
    ///
    /// # Errors
    /// Fails if `found` finds nothing within `limit`.
    pub(super) async fn wait<T>(
        &self,
        limit: Duration,
        found: impl Fn(&State) -> Option<T>,
    ) -> anyhow::Result<T> {
        let mut changes = self.changed.subscribe();
        let waiting = async {
            loop {
                changes.borrow_and_update();
                if let Some(found) = self.read(&found) {
                    return Ok(found);
                }
                changes.changed().await?;
            }
        };
        timeout(limit, waiting).await.map_err(|_late| anyhow::anyhow!("not within {limit:?}"))?
    }
}

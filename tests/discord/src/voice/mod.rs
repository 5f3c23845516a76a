//! The voice half of a Discord on this machine: voice gateway (wss, versions 4 to 8), UDP with both
//! encryptions, and the delivery service of DAVE.
//!
//! Entry: [`Voice::start`], then [`Voice::admit`] for each user that joins a channel; clients do
//! the rest over the wire. [`Voice::set_faults`] and its neighbours make things go wrong.
//! Never mixes or decodes sound, and never reads what is encrypted end to end.

mod control;
mod counts;
mod faults;
mod group;
mod identify;
mod mls;
mod protocol;
mod seat;
mod sfu;
mod socket;
mod sound;
mod state;
pub(crate) mod transport;

#[cfg(test)]
pub(crate) mod tests;

pub use counts::{Counts, GroupStatus};
pub use faults::{Faults, Scope};
pub(crate) use identify::snowflake;
pub use sound::Sound;
pub use transport::Mode;

use anyhow::Context as _;
use state::State;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    net::{TcpListener, UdpSocket},
    time::interval,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Interval of checks for overdue heartbeats and commits.
const SWEEP: Duration = Duration::from_millis(250);

/// Configuration of the voice servers. The default is today's Discord.
#[derive(Clone, Debug)]
pub struct VoiceOptions {
    /// True if calls are encrypted end to end, and clients that cannot are refused (4017).
    pub dave: bool,
    /// Modes that READY offers.
    pub modes: Vec<Mode>,
    /// Interval of the clients' heartbeats; silence for two and a half times as long ends the
    /// session (4009).
    pub heartbeat: Duration,
    /// Number of servers; [`Voice::migrate`] goes from one to the next.
    pub servers: usize,
    /// Keys, tokens and what [`Faults`] draws come from it.
    pub seed: u64,
}

impl Default for VoiceOptions {
    fn default() -> Self {
        Self {
            dave: true,
            modes: Mode::ALL.to_vec(),
            heartbeat: Duration::from_millis(13_750),
            servers: 2,
            seed: 0,
        }
    }
}

/// State that the tasks of the voice servers share.
struct Shared(Mutex<State>);

impl Shared {
    /// The state, for a moment.
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

/// Locks; a panic elsewhere is reported elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The voice servers of a Discord on this machine. Clones are the same servers; they end when the
/// last one is dropped.
#[derive(Clone)]
pub struct Voice {
    /// All there is to know.
    shared: Arc<Shared>,
    /// Ends the tasks.
    _running: Arc<DropGuard>,
}

impl Voice {
    /// Starts the servers on ports of 127.0.0.1 that the system chooses. `tls` must hold a
    /// certificate for 127.0.0.1 that clients trust.
    ///
    /// # Errors
    /// Fails if a port cannot be opened.
    pub async fn start(tls: TlsAcceptor, options: VoiceOptions) -> anyhow::Result<Self> {
        let (mut listeners, mut media) = (Vec::new(), Vec::new());
        for _ in 0..options.servers.max(1) {
            listeners
                .push(TcpListener::bind("127.0.0.1:0").await.context("opening a voice gateway")?);
            media.push(UdpSocket::bind("127.0.0.1:0").await.context("opening a media port")?);
        }
        let endpoints = listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>()?;
        let addresses = media.iter().map(UdpSocket::local_addr).collect::<Result<_, _>>()?;
        let shared = Arc::new(Shared(Mutex::new(State::new(options, endpoints, addresses))));
        let running = CancellationToken::new();
        for (number, (listener, socket)) in listeners.into_iter().zip(media).enumerate() {
            let accept = socket::accept(Arc::clone(&shared), number, listener, tls.clone());
            let forward = sfu::forward(Arc::clone(&shared), socket);
            tokio::spawn(running.clone().run_until_cancelled_owned(accept));
            tokio::spawn(running.clone().run_until_cancelled_owned(forward));
        }
        let sweep = sweep(Arc::clone(&shared));
        tokio::spawn(running.clone().run_until_cancelled_owned(sweep));
        Ok(Self { shared, _running: Arc::new(running.drop_guard()) })
    }

    /// A user takes a seat in a voice channel: the token and the endpoint (`127.0.0.1:PORT`) for
    /// VOICE_SERVER_UPDATE.
    ///
    /// For a user already there who moves, or whose socket is gone, the old session ends (4014)
    /// and the token is new; with nothing changed and the socket up, nothing happens and the
    /// answer is the same as before.
    #[must_use]
    pub fn admit(&self, guild: u64, channel: u64, user: u64, session_id: &str) -> (String, String) {
        self.shared.state().admit((guild, user), channel, session_id)
    }

    /// A user leaves or is put out: its socket is closed (4014) and the others are notified.
    pub fn leave(&self, guild: u64, user: u64) {
        self.shared.state().vacate((guild, user), &seat::Close(4014, "disconnected".into()));
    }

    /// A guild's calls go to the next server, as when Discord changes the region: per user the new token and
    /// endpoint for VOICE_SERVER_UPDATE. The old sockets are closed with 4022, and calls begin again with new
    /// keys.
    #[must_use]
    pub fn migrate(&self, guild: u64) -> Vec<(u64, String, String)> {
        self.shared.state().migrate(guild)
    }
}

/// Looks for what is overdue.
async fn sweep(shared: Arc<Shared>) {
    let mut clock = interval(SWEEP);
    loop {
        clock.tick().await;
        shared.state().sweep();
    }
}

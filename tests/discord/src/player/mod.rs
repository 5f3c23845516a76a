//! A person at the table: a whole client of the voice half, which speaks what it is given and
//! records what it hears.
//!
//! Entry: [`Player::connect`], then [`Player::say`] and [`Player::heard`]. It goes over the wire
//! like any client: wss (version 8), UDP, DAVE. Only token and session come from outside, since
//! the gateway half is not its business.
//! Never looks into the server.

mod dave;
mod ears;
mod laughter;
mod line;
mod memory;
mod mouth;
mod shared;
mod wires;

#[cfg(test)]
mod tests;

pub use laughter::laughter;
pub use memory::{AUDIBLE, Packet};
pub use mouth::{Speech, Spoken};

use crate::voice::Mode;
use anyhow::Context as _;
use line::Line;
use mouth::Mouth;
use shared::{Command, Shared};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Longest time of a connection attempt.
const PATIENCE: Duration = Duration::from_secs(15);
/// Most pending orders to a player's line; the next one waits.
const COMMANDS: usize = 8;

/// A place in a voice channel, as the gateway has given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Of VOICE_SERVER_UPDATE: `127.0.0.1:PORT`.
    pub endpoint: String,
    /// Of VOICE_SERVER_UPDATE.
    pub token: String,
    /// The guild.
    pub guild: u64,
    /// The voice channel.
    pub channel: u64,
    /// The user.
    pub user: u64,
    /// Of VOICE_STATE_UPDATE.
    pub session_id: String,
}

/// A person in a voice channel. Clones are the same person; it goes when the last one is dropped.
#[derive(Clone)]
pub struct Player {
    /// Id of its user.
    user: u64,
    /// State that its tasks share.
    shared: Arc<Shared>,
    /// To its line.
    commands: mpsc::Sender<Command>,
    /// Its voice; one speech at a time.
    mouth: Arc<Mutex<Mouth>>,
    /// Ends everything.
    running: CancellationToken,
    /// Ends everything with the last clone.
    _guard: Arc<DropGuard>,
}

impl Player {
    /// Joins: TLS with the certificate authority of the PEM file `ca`, IDENTIFY, address
    /// discovery, SELECT PROTOCOL with the server's preferred mode, DAVE.
    ///
    /// # Errors
    /// Fails if the server refuses or does not answer within 15 s.
    pub async fn connect(seat: Seat, ca: impl AsRef<Path>) -> anyhow::Result<Self> {
        Self::connect_with(seat, ca, None).await
    }

    /// Like [`Player::connect`], with a certain encryption of the transport.
    ///
    /// # Errors
    /// Fails if the server refuses or does not answer within 15 s.
    pub async fn connect_with(
        seat: Seat,
        ca: impl AsRef<Path>,
        mode: Option<Mode>,
    ) -> anyhow::Result<Self> {
        let tls = wires::trusting(ca.as_ref())?;
        let (commands, orders) = mpsc::channel(COMMANDS);
        let running = CancellationToken::new();
        let shared = Arc::new(Shared::default());
        let user = seat.user;
        let line = Line::new(seat, tls, mode, Arc::clone(&shared), orders);
        tokio::spawn(line.run(running.clone()));
        let player = Self {
            user,
            shared,
            commands,
            mouth: Arc::new(Mutex::new(Mouth::new()?)),
            running: running.clone(),
            _guard: Arc::new(running.drop_guard()),
        };
        player.connected().await?;
        Ok(player)
    }

    /// Waits until the line is up or refused.
    async fn connected(&self) -> anyhow::Result<()> {
        let up = |state: &shared::State| {
            let link = state.link.as_ref().map(|_| Ok(()));
            let known = link.or_else(|| state.failure.clone().map(Err));
            known.filter(|_| state.moves == 0)
        };
        let user = self.user;
        let result = self.shared.wait(PATIENCE, up).await;
        let result = result.with_context(|| format!("user {user} found no voice server"))?;
        result.map_err(|why| anyhow::anyhow!("user {user} could not join: {why}"))
    }

    /// The player's user.
    #[must_use]
    pub const fn user(&self) -> u64 {
        self.user
    }

    /// Goes to another voice server, as on a VOICE_SERVER_UPDATE.
    ///
    /// # Errors
    /// Fails if the server refuses or does not answer within 15 s.
    pub async fn server_update(&self, endpoint: &str, token: &str) -> anyhow::Result<()> {
        let (endpoint, token) = (endpoint.to_owned(), token.to_owned());
        self.order(Command::Server { endpoint, token }).await
    }

    /// Takes a seat elsewhere, as when it is moved to another channel.
    ///
    /// # Errors
    /// Fails if the server refuses or does not answer within 15 s.
    pub async fn take_seat(&self, seat: Seat) -> anyhow::Result<()> {
        self.order(Command::Seat(seat)).await
    }

    /// Gives an order that leads to a new connection, and waits for it.
    async fn order(&self, command: Command) -> anyhow::Result<()> {
        self.shared.change(|state| state.moves += 1);
        self.commands.send(command).await.ok().context("the player has left")?;
        self.connected().await
    }

    /// Waits until sound goes both ways with these users: at once without DAVE, else when all are
    /// in this player's group, and have said that they have its keys.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn in_call_with(&self, users: &[u64], limit: Duration) -> anyhow::Result<()> {
        let together = |state: &shared::State| {
            let linked = state.link.is_some();
            let group = state.dave.members();
            let all = state.dave.is_settled() && users.iter().all(|user| group.contains(user));
            (linked && state.moves == 0 && (state.dave.version() == 0 || all)).then_some(())
        };
        self.shared
            .wait(limit, together)
            .await
            .with_context(|| format!("user {} is in no call with {users:?}", self.user))
    }

    /// Waits until a user who has left is out of this player's group: a new epoch has begun.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn in_call_without(&self, user: u64, limit: Duration) -> anyhow::Result<()> {
        let without = |state: &shared::State| {
            let group = state.dave.members();
            (!group.is_empty() && !group.contains(&user)).then_some(())
        };
        self.shared
            .wait(limit, without)
            .await
            .with_context(|| format!("user {} is still in a call with {user}", self.user))
    }

    /// The close code that has ended the last connection, if one has.
    #[must_use]
    pub fn close_code(&self) -> Option<u16> {
        self.shared.read(|state| state.close_code)
    }

    /// Packets that could not be understood: from an unknown source, or not decryptable.
    #[must_use]
    pub fn not_understood(&self) -> u64 {
        self.shared.read(|state| state.not_understood)
    }

    /// Speaks: Opus at 48 kHz mono, 20 ms a packet, in real time; a speaking update before, five
    /// silence frames after. Waits until all is said. Dropping the future stops it mid-word,
    /// with the silence frames.
    ///
    /// # Errors
    /// Fails if the line is not up, or in an encrypted call without another member.
    pub async fn say(&self, pcm48: &[i16]) -> anyhow::Result<Spoken> {
        self.start_saying(pcm48.to_vec()).finished().await
    }

    /// Like [`Player::say`], without waiting. A second speech begins when the first has ended.
    #[must_use]
    pub fn start_saying(&self, pcm48: Vec<i16>) -> Speech {
        let (shared, commands) = (Arc::clone(&self.shared), self.commands.clone());
        Speech::start(Arc::clone(&self.mouth), shared, commands, pcm48)
    }

    /// Speech heard of a user, 48 kHz mono: packets in order of their numbers, lost ones concealed, pauses as
    /// long as they were (2 s at most), at most the last two minutes.
    #[must_use]
    pub fn heard(&self, user: u64) -> Vec<i16> {
        self.shared.read(|state| state.memory.continuous(user))
    }

    /// Every packet heard of a user in the last two minutes, in order of arrival.
    #[must_use]
    pub fn packets(&self, user: u64) -> Vec<Packet> {
        self.shared.read(|state| state.memory.packets(user))
    }

    /// Forgets what was heard.
    pub fn forget(&self) {
        self.shared.change(|state| state.memory.clear());
    }

    /// Waits for a packet of a user at least so loud (rms, full scale 32,768) that arrives from
    /// now on: when it came.
    ///
    /// # Errors
    /// Fails if none comes within `limit`.
    pub async fn wait_for_voice(
        &self,
        user: u64,
        threshold_rms: f64,
        limit: Duration,
    ) -> anyhow::Result<Instant> {
        let since = Instant::now();
        let loud = |packet: &Packet| packet.rms >= threshold_rms;
        let found = |state: &shared::State| state.memory.first_after(user, since, loud);
        self.shared.wait(limit, found).await.with_context(|| {
            format!("user {} heard nothing of user {user} within {limit:?}", self.user)
        })
    }

    /// Waits until something audible has come from a user; what was forgotten does not count.
    ///
    /// # Errors
    /// Fails if none comes within `limit`.
    pub async fn wait_until_heard(&self, user: u64, limit: Duration) -> anyhow::Result<Instant> {
        let found = |state: &shared::State| state.memory.last_audible_before(user, Instant::now());
        self.shared.wait(limit, found).await.with_context(|| {
            format!("user {} heard nothing of user {user} within {limit:?}", self.user)
        })
    }

    /// Waits until nothing audible comes from a user for `silence` from now on: since when.
    ///
    /// # Errors
    /// Fails if that takes longer than `limit`.
    pub async fn wait_for_silence(
        &self,
        user: u64,
        silence: Duration,
        limit: Duration,
    ) -> anyhow::Result<Instant> {
        let begun = Instant::now();
        let until = begun + limit;
        loop {
            // Speech that is about to begin was not heard yet.
            let last = self.silent_since(user).unwrap_or(begun);
            let quiet_from = last.max(begun) + silence;
            if Instant::now() >= quiet_from {
                return Ok(last);
            }
            anyhow::ensure!(quiet_from < until, "user {user} was not silent within {limit:?}");
            tokio::time::sleep_until(quiet_from.into()).await;
        }
    }

    /// Time of a user's last audible packet; `None` if none ever came.
    #[must_use]
    pub fn silent_since(&self, user: u64) -> Option<Instant> {
        self.last_audible_before(user, Instant::now())
    }

    /// Time of a user's first audible packet after a moment.
    #[must_use]
    pub fn first_audible_after(&self, user: u64, moment: Instant) -> Option<Instant> {
        let audible = |packet: &Packet| packet.rms >= AUDIBLE;
        self.shared.read(|state| state.memory.first_after(user, moment, audible))
    }

    /// Time of a user's last audible packet before a moment.
    #[must_use]
    pub fn last_audible_before(&self, user: u64, moment: Instant) -> Option<Instant> {
        self.shared.read(|state| state.memory.last_audible_before(user, moment))
    }

    /// Hangs up. The gateway has to be notified separately, as with any client.
    pub fn leave(&self) {
        self.running.cancel();
    }
}

//! The voice connection's supervisor: tracks whether it is up and delivers packets.
//!
//! Entry type: [`VoiceSupervisor`]. **Never**: waits, or hides that the bot is deaf.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::time::Instant;

use super::health::{Ailment, Health, Packets};
use crate::discord::voice::{ConnectionState, Connector, Reception, VoiceConnection, VoiceNews};

/// Wait before a lost connection is made again, at first and at most.
const REJOIN: Duration = Duration::from_secs(1);
const REJOIN_MAX: Duration = Duration::from_secs(30);

pub struct VoiceSupervisor {
    connection: VoiceConnection,
    state: ConnectionState,
    health: Health,
    /// Discord has shown the bot in the channel since it connected.
    seen: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ConnectionChange {
    Restored,
    /// Reconnect after this time, unless it is back by then.
    Lost(Duration),
}

/// Fault of a connection that is up.
#[derive(Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Frames are dropped: this machine is too slow.
    Crowded,
    /// No packet arrives although a user speaks: reconnect after this.
    Deaf(Duration),
    /// This user cannot be heard, others can.
    DeafTo(u64),
    /// Packets of this user cannot be decoded.
    Garbled(u64),
}

impl VoiceSupervisor {
    /// Starts in the state of a connection being made.
    pub fn new(connection: VoiceConnection) -> Self {
        Self { connection, state: ConnectionState::Up, health: Health::default(), seen: false }
    }

    pub fn state(&self) -> &ConnectionState {
        &self.state
    }

    pub fn is_up(&self) -> bool {
        self.state == ConnectionState::Up
    }

    /// A handle to connect with.
    pub fn connector(&self) -> Connector {
        self.connection.connector()
    }

    /// Replaces the audience by `users`.
    pub fn receive(&self, users: impl IntoIterator<Item = u64>) {
        self.connection.audience.set(users);
    }

    /// True if a packet of `user` arrived within `time`; may outlive the session.
    pub fn came_within(&self, user: u64, time: Duration) -> impl Fn() -> bool + Send + use<> {
        let reception = self.connection.reception.clone();
        move || reception.borrow().speakers.get(&user).is_some_and(|it| it.last.elapsed() <= time)
    }

    /// Next report of the connection. Cancel safe.
    pub async fn next_news(&mut self) -> Option<VoiceNews> {
        self.connection.news.recv().await
    }

    /// Applies a report of the connection.
    pub fn take(&mut self, news: VoiceNews) -> Option<ConnectionChange> {
        match news {
            VoiceNews::Connected => return self.restored(),
            // One attempt at a time; a running one reports its own result.
            VoiceNews::Lost(why) if self.is_up() => {
                return Some(ConnectionChange::Lost(self.lost(why)));
            }
            VoiceNews::Lost(_) => {}
            VoiceNews::Speaks(user, at) => {
                if self.connection.audience.receives(user) {
                    self.health.speaks(at, user);
                }
            }
            VoiceNews::Left(user) => self.health.left(user),
        }
        None
    }

    /// Marks it as up; returns the change, if any.
    pub fn restored(&mut self) -> Option<ConnectionChange> {
        let before = std::mem::replace(&mut self.state, ConnectionState::Up);
        (before != ConnectionState::Up).then_some(ConnectionChange::Restored)
    }

    /// Marks it as lost; returns the growing wait before the next attempt. Discord moves a bot to
    /// another voice server by closing the old one first, so it may come back by itself.
    pub fn lost(&mut self, why: String) -> Duration {
        let attempts = match &self.state {
            ConnectionState::Down { attempts, .. } => attempts + 1,
            ConnectionState::Up | ConnectionState::Left => 0,
        };
        tracing::warn!(why, attempts, "the voice connection is lost");
        self.state = ConnectionState::Down { why, attempts };
        REJOIN.saturating_mul(1 << attempts.min(5)).min(REJOIN_MAX)
    }

    /// Begins to reconnect; `None`: it is up again.
    pub fn begin_reconnect(&mut self) -> Option<Connector> {
        if self.is_up() {
            return None;
        }
        self.seen = false;
        Some(self.connector())
    }

    /// Notes that Discord shows the bot in its channel. Ignored during a reconnect, when the bot
    /// leaves and returns by itself.
    pub fn seen_in_channel(&mut self) {
        self.seen |= self.is_up();
    }

    /// True if the bot was seen in its channel; if it is in none now, someone removed it.
    pub fn was_seen(&self) -> bool {
        self.seen
    }

    /// Faults at `now`, each reported once until it is over.
    pub fn check(&mut self, now: Instant) -> Vec<Trouble> {
        if !self.is_up() {
            return Vec::new();
        }
        let mut troubles = Vec::new();
        let report = self.connection.reception.borrow().clone();
        let packets = |it: &Reception| Packets { last: it.last, last_good: it.last_good };
        let received = report.speakers.iter().map(|(user, it)| (*user, packets(it))).collect();
        let dropped = &self.connection.dropped;
        let unclaimed = dropped.unknown.load(Ordering::Relaxed);
        let crowded = report.crowded_out + dropped.full.load(Ordering::Relaxed);
        if self.health.is_crowded(crowded) {
            tracing::warn!(crowded, "dropped speech: this machine is too slow");
            troubles.push(Trouble::Crowded);
        }
        for ailment in self.health.look(now, &received, unclaimed) {
            match ailment {
                Ailment::Deaf => {
                    let why = "a player speaks, but no sound arrives".to_owned();
                    troubles.push(Trouble::Deaf(self.lost(why)));
                    break;
                }
                Ailment::DeafTo(user) => troubles.push(Trouble::DeafTo(user)),
                Ailment::Garbled(user) => troubles.push(Trouble::Garbled(user)),
            }
        }
        troubles
    }

    /// Leaves the channel. Cancel safe.
    pub async fn close(self) {
        self.connection.close().await;
    }
}

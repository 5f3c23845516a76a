//! State of a gateway client between two sockets.
//!
//! Entry type: [`Gateways`]. Never: sockets.

use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use tokio::time::Instant;

/// Events stored for a resume; a client further behind has to identify again.
const REPLAYED: usize = 10_000;

/// A test's order for a connection.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Sends this payload.
    Send(Value),
    /// Closes with this code.
    Close(u16),
    /// Drops the socket without a word.
    Cut,
}

/// A client that has identified.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its user.
    pub(crate) user: u64,
    /// Events it wants to get.
    pub(crate) intents: u64,
    /// Its number and how many there are.
    pub(crate) shard: (u64, u64),
    /// The last event's number.
    pub(crate) seq: u64,
    /// Events with their numbers, the newest last.
    pub(crate) events: VecDeque<(u64, String)>,
    /// Its socket, while it has one.
    pub(crate) connection: Option<u64>,
    /// Orders for its socket.
    pub(crate) orders: VecDeque<Order>,
    /// Events wait.
    pub(crate) held: bool,
    /// It cannot be resumed any more.
    pub(crate) ended: bool,
}

impl Session {
    /// True if events of this guild come here; direct messages, of no guild, come to shard 0.
    pub(crate) fn serves(&self, guild: Option<u64>) -> bool {
        let (number, total) = self.shard;
        (guild.unwrap_or_default() >> 22) % total == number
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, event: &str, data: &Value) {
        self.seq += 1;
        let text = serde_json::json!({"op": 0, "s": self.seq, "t": event, "d": data}).to_string();
        if self.events.len() == REPLAYED {
            self.events.pop_front();
        }
        self.events.push_back((self.seq, text));
    }

    /// Events after `seq`.
    pub(crate) fn after(&self, seq: u64) -> impl Iterator<Item = &(u64, String)> {
        self.events.iter().filter(move |(number, _)| *number > seq)
    }

    /// True if everything after `seq` is still known.
    pub(crate) fn knows_after(&self, seq: u64) -> bool {
        seq == self.seq || self.events.front().is_some_and(|(first, _)| *first <= seq + 1)
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Gateways {
    /// By session id.
    pub(crate) sessions: BTreeMap<String, Session>,
    /// Number of the last socket.
    pub(crate) connections: u64,
    /// Time of the last identify of each user and bucket.
    pub(crate) identified: BTreeMap<(u64, u64), Instant>,
    /// Number of identifies of each user.
    pub(crate) identifies: BTreeMap<u64, u64>,
    /// Number of identifies of each user that came too early.
    pub(crate) breaches: BTreeMap<u64, u64>,
    /// Number of resumes of each user.
    pub(crate) resumes: BTreeMap<u64, u64>,
}

impl Gateways {
    /// The sessions of a user.
    pub(crate) fn of(&mut self, user: u64) -> impl Iterator<Item = &mut Session> {
        self.sessions.values_mut().filter(move |session| session.user == user)
    }
}

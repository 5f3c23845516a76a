//! Faults injected on purpose.
//!
//! Entry: [`Faults`] for a [`Scope`]; [`Faults::fates`] says what becomes of one packet.
//! Never counts as a violation of a client.

use rand::Rng;
use std::time::Duration;

/// Later than this, a reordered packet comes after its successor (20 ms apart).
const OVERTAKEN: Duration = Duration::from_millis(30);

/// Target of a fault. A user's own faults hide those of the guild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All users in a guild.
    Guild(u64),
    /// One user in a guild.
    User {
        /// The guild.
        guild: u64,
        /// The user.
        user: u64,
    },
}

/// Faults of the packets that the users in a [`Scope`] **send**, as all others get them.
///
/// Rates are 0.0–1.0 and drawn per packet from the seed of
/// [`VoiceOptions`](crate::VoiceOptions::seed). The default is a perfect network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Rate of packets that never arrive.
    pub loss: f64,
    /// Rate of packets that arrive twice.
    pub duplication: f64,
    /// Rate of packets that arrive after the one that follows them.
    pub reordering: f64,
    /// Each packet is late by a time of its own between zero and this; more than 20 ms reorders.
    pub jitter: Duration,
    /// Speaking updates (op 5) are not passed on, so that no client learns whose sound it is.
    pub speaking_withheld: bool,
    /// Packets are sealed with a key the receiver does not have.
    pub wrong_transport_key: bool,
    /// DAVE frames do not decrypt.
    pub wrong_dave_key: bool,
    /// Packets carry a header extension, as those of browsers do.
    pub header_extensions: bool,
    /// Heartbeats are not acknowledged.
    pub heartbeats_unacknowledged: bool,
}

impl Faults {
    /// Delays of the copies of one packet: none if it is lost.
    pub(super) fn fates(&self, random: &mut impl Rng) -> Vec<Duration> {
        let mut happens = |rate: f64| rate > 0.0 && random.random_bool(rate.clamp(0.0, 1.0));
        if happens(self.loss) {
            return Vec::new();
        }
        let overtaken = if happens(self.reordering) { OVERTAKEN } else { Duration::ZERO };
        let copies = if happens(self.duplication) { 2 } else { 1 };
        (0..copies)
            .map(|_| overtaken + self.jitter.mul_f64(random.random_range(0.0..1.0)))
            .collect()
    }
}

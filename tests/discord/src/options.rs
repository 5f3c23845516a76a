//! Configuration of this Discord.
//!
//! Entry type: [`Options`]. Never: behaviour.

use crate::{voice::VoiceOptions, world::permission};
use std::time::Duration;

/// Rate limit of a REST bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Requests.
    pub requests: u32,
    /// The time after which they are available again.
    pub window: Duration,
}

/// Configuration of this Discord. `Options::default()` behaves like the real one.
#[derive(Clone, Debug)]
pub struct Options {
    /// The voice servers.
    pub voice: VoiceOptions,
    /// The name of the bot's user and application.
    pub bot_name: String,
    /// Permissions that the invitation asks for, in every guild the bot joins.
    pub bot_permissions: u64,
    /// True if members, presences and message content may be asked for.
    pub privileged_intents: bool,
    /// Interval of the gateway clients' heartbeats.
    pub heartbeat_interval: Duration,
    /// The least time between two identifies with one token in one bucket.
    pub identify_interval: Duration,
    /// Number of buckets of identifies: a shard's is its number modulo this.
    pub max_concurrency: u64,
    /// Time limit of a bot's first answer to an interaction.
    pub answer_within: Duration,
    /// Lifetime of an interaction's token once answered.
    pub token_lasts: Duration,
    /// True if the gateway's address begins with `wss`.
    pub gateway_tls: bool,
    /// The limit of REST buckets that have none of their own.
    pub limit: Limit,
    /// The limit of all requests of one token together.
    pub global_limit: Limit,
}

impl Default for Options {
    fn default() -> Self {
        let limit = |requests, seconds| Limit { requests, window: Duration::from_secs(seconds) };
        Self {
            voice: VoiceOptions::default(),
            bot_name: "Glyphoxa".into(),
            bot_permissions: permission::VIEW_CHANNEL
                | permission::CONNECT
                | permission::SPEAK
                | permission::SEND_MESSAGES
                | permission::EMBED_LINKS
                | permission::ATTACH_FILES,
            privileged_intents: false,
            heartbeat_interval: Duration::from_millis(41_250),
            identify_interval: Duration::from_secs(5),
            max_concurrency: 1,
            answer_within: Duration::from_secs(3),
            token_lasts: Duration::from_secs(15 * 60),
            gateway_tls: false,
            limit: limit(5, 1),
            global_limit: limit(50, 1),
        }
    }
}

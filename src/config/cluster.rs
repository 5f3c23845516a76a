//! Several processes of one bot.
//!
//! Entry functions: [`cluster`], and [`check`] once all is read.

use std::time::Duration;

use super::{keys, memory::MemoryPlace, reading::Notes};
use crate::{memory::LEASE_TTL, yaml::Fields};

/// Fault of several processes without a PostgreSQL, and its fix.
pub const UNSHARED: &str =
    "processes share only a PostgreSQL: without it, a second one would serve all servers again";
pub const TO_SHARE: &str = "set memory.url, or start only one process";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Shards of the bot's gateway, over all processes.
    pub shards: u32,
    /// Most sessions at once in this process; `None`: no limit.
    pub capacity: Option<u32>,
    /// Life of a lease that is not renewed.
    pub lease: Duration,
}

/// `None`: one process serves the bot alone.
pub fn cluster(file: &Fields<'_>) -> Option<Cluster> {
    let cluster = file.map("cluster", &keys::cluster::CLUSTER)?;
    let shards = cluster.whole("shards").unwrap_or(1);
    let lease = cluster.whole("lease_s").map_or(LEASE_TTL, Duration::from_secs);
    Some(Cluster { shards, capacity: cluster.whole("capacity"), lease })
}

/// Warns of `cluster` in a `file` whose `memory` is no server.
pub fn check(memory: &MemoryPlace, file: &Fields<'_>, notes: &mut Notes) {
    if file.get("cluster").is_some() && matches!(memory, MemoryPlace::File(_)) {
        notes.warnings.add(file.place("cluster"), UNSHARED, TO_SHARE);
    }
}

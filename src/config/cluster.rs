//! Several processes of one bot.
//!
//! Entry function: [`cluster`].

use std::time::Duration;

use super::keys;
use crate::{memory::LEASE_TTL, yaml::Fields};

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
    let cluster = file.map("cluster", &keys::app::CLUSTER)?;
    let shards = cluster.whole("shards").unwrap_or(1);
    let lease = cluster.whole("lease_s").map_or(LEASE_TTL, Duration::from_secs);
    Some(Cluster { shards, capacity: cluster.whole("capacity"), lease })
}

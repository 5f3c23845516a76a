//! Several processes of one bot.
//!
//! Entry function: [`cluster`].

use super::keys;
use crate::yaml::Fields;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Shards of the bot's gateway, over all processes.
    pub shards: u32,
    /// Most sessions at once in this process; `None`: no limit.
    pub capacity: Option<u32>,
}

/// `None`: one process serves the bot alone.
pub fn cluster(file: &Fields<'_>) -> Option<Cluster> {
    let cluster = file.map("cluster", &keys::app::CLUSTER)?;
    let shards = cluster.whole("shards").unwrap_or(1);
    Some(Cluster { shards, capacity: cluster.whole("capacity") })
}

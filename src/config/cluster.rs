//! Several processes of one bot. Entry function: [`shards`].

use super::keys;
use crate::yaml::Fields;

/// Shards of the bot's gateway, over all processes.
pub fn shards(file: &Fields<'_>) -> u32 {
    let cluster = file.map("cluster", &keys::app::CLUSTER);
    cluster.and_then(|cluster| cluster.whole("shards")).unwrap_or(1)
}

//! Several processes of one bot. Entry function: [`shards`].

use super::keys;
use crate::yaml::Fields;

/// Shards of the bot's gateway, over all processes; `None`: one process serves it alone.
pub fn shards(file: &Fields<'_>) -> Option<u32> {
    let cluster = file.map("cluster", &keys::app::CLUSTER)?;
    Some(cluster.whole("shards").unwrap_or(1))
}

//! The node that serves a Discord server, for the game master.
//!
//! Entry function: [`node_line`].

use super::names::escaped;
use crate::campaign::Lease;

/// "alpha, shard 0 of 4, epoch 3": this node and its lease of one of the bot's `shards`.
pub fn node_line(name: &str, lease: Lease, shards: u32) -> String {
    let Lease { shard, epoch } = lease;
    format!("{}, shard {shard} of {shards}, epoch {epoch}", escaped(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_is_named_with_its_lease() {
        let line = node_line("b_1", Lease { shard: 2, epoch: 3 }, 4);
        assert_eq!(line, "b\\_1, shard 2 of 4, epoch 3");
    }
}

//! The node that serves a Discord server, for the game master.
//!
//! Entry type: [`NodeView`]; function [`node_line`].

use super::names::escaped;

/// A shard, its node, and how many there are of both.
#[derive(Clone, Copy, Debug)]
pub struct NodeView<'a> {
    pub name: &'a str,
    /// Nodes known to the store, this one included.
    pub nodes: usize,
    /// From 0, as Discord counts.
    pub shard: u32,
    /// Of the whole bot.
    pub shards: u32,
    pub epoch: u64,
}

/// "Node alpha, shard 0 of 4, epoch 3"; `None` for the only shard of the only node.
pub fn node_line(view: &NodeView<'_>) -> Option<String> {
    let NodeView { name, nodes, shard, shards, epoch } = *view;
    (nodes > 1 || shards > 1)
        .then(|| format!("Node {}, shard {shard} of {shards}, epoch {epoch}", escaped(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_is_named_where_there_are_several() {
        let alone = NodeView { name: "alpha", nodes: 1, shard: 0, shards: 1, epoch: 3 };
        assert_eq!(node_line(&alone), None);
        let standby = NodeView { nodes: 2, ..alone };
        assert_eq!(node_line(&standby).as_deref(), Some("Node alpha, shard 0 of 1, epoch 3"));
        let second = NodeView { name: "b_1", shard: 2, shards: 4, ..alone };
        assert_eq!(node_line(&second).as_deref(), Some("Node b\\_1, shard 2 of 4, epoch 3"));
    }
}

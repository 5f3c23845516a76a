//! Whether this node reaches Discord's gateway, or leaves its shards to others.
//!
//! Entry type: [`Reach`]. A node of which no shard is connected for [`DOWN_MAX`] gives back all of
//! them, if another has one that is connected, or has none at all, so that nothing speaks against
//! it. Then it takes none for a pause, which doubles each time until a shard is connected here
//! again, and ends early if no other node is left. While Discord itself is away no shard is
//! connected anywhere: shards stay, or are tried by a node without any, once in a pause.

use std::time::Duration;

use tokio::time::Instant;

use crate::campaign::{Node, NodeStatus};

/// Longest time without a connected shard: serenity needs less to connect again, and 20 s of it are
/// over before a shard asks whether Discord refuses the bot for its size.
const DOWN_MAX: Duration = Duration::from_secs(25);
/// First pause, and the longest.
const PAUSE: Duration = Duration::from_secs(30);
const PAUSE_MAX: Duration = Duration::from_secs(600);

#[derive(Default)]
pub struct Reach {
    /// Since when no shard is connected, though one may identify.
    down_since: Option<Instant>,
    paused_until: Option<Instant>,
    /// Length of the last pause.
    pause: Duration,
}

impl Reach {
    /// Notes how many shards are connected now. `is_trying`: one has waited to identify before, and
    /// may connect.
    pub fn note(&mut self, now: Instant, connected: u32, is_trying: bool) {
        match (connected, is_trying) {
            (1.., _) => *self = Self::default(),
            (0, true) => _ = self.down_since.get_or_insert(now),
            (0, false) => self.down_since = None,
        }
    }

    /// True if shards should be left to others.
    pub fn is_down(&self, now: Instant) -> bool {
        self.down_since.is_some_and(|since| now >= since + DOWN_MAX)
    }

    /// True while this node takes no shard.
    pub fn is_paused(&self, now: Instant) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }

    /// Begins a pause if this node, `node`, is down and another of `nodes` is not, and ends one
    /// if no other is left. True if it begins.
    pub fn look(&mut self, now: Instant, nodes: &[NodeStatus], node: &Node) -> bool {
        let mut others = others(nodes, node);
        if self.is_paused(now) {
            if others.next().is_none() {
                self.paused_until = None;
            }
            return false;
        }
        let may_reach = |it: &NodeStatus| it.node.connected > 0 || it.leases.is_empty();
        if !self.is_down(now) || !others.any(may_reach) {
            return false;
        }
        self.pause = (self.pause * 2).clamp(PAUSE, PAUSE_MAX);
        self.paused_until = Some(now + self.pause);
        self.down_since = None;
        true
    }
}

/// Living nodes other than `node` that are not cut off from Discord.
pub fn others<'n>(nodes: &'n [NodeStatus], node: &Node) -> impl Iterator<Item = &'n NodeStatus> {
    nodes.iter().filter(move |it| it.node.run != node.run && !it.is_gone && !it.node.is_cut_off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Lease;

    fn node(run: &str) -> Node {
        Node { run: run.to_owned(), ..Node::default() }
    }

    fn status(connected: u32, held: u32) -> NodeStatus {
        NodeStatus {
            node: Node { connected, ..node("b") },
            seen_ago: Duration::ZERO,
            is_gone: false,
            leases: (0..held).map(|shard| Lease { shard, epoch: 1 }).collect(),
        }
    }

    #[test]
    fn shards_go_to_nodes_that_reach_discord() {
        let gone = NodeStatus { is_gone: true, ..status(1, 2) };
        let mut cut_off = status(0, 0);
        cut_off.node.is_cut_off = true;
        let own = NodeStatus { node: node("a"), ..status(0, 0) };
        for (other, expected) in [
            (status(1, 2), true),
            (status(0, 0), true),
            (status(0, 2), false),
            (gone, false),
            (cut_off, false),
            (own, false),
        ] {
            let (began, mut reach) = (Instant::now(), Reach::default());
            reach.note(began, 0, true);
            let nodes = [other];
            assert!(!reach.look(began, &nodes, &node("a")), "{nodes:?}");
            let late = began + DOWN_MAX;
            assert_eq!(reach.look(late, &nodes, &node("a")), expected, "{nodes:?}");
            assert_eq!(reach.is_paused(late), expected);
        }
    }

    #[test]
    fn pauses_grow_until_a_shard_is_connected() {
        let (mut now, mut reach) = (Instant::now(), Reach::default());
        let mut pause = |reach: &mut Reach| {
            reach.note(now, 0, true);
            now += DOWN_MAX;
            assert!(reach.look(now, &[status(1, 1)], &node("a")));
            let began = now;
            while reach.is_paused(now) {
                now += Duration::from_secs(1);
            }
            now.duration_since(began).as_secs()
        };
        let pauses: Vec<u64> = (0..7).map(|_| pause(&mut reach)).collect();
        assert_eq!(pauses, [30, 60, 120, 240, 480, 600, 600]);
        reach.note(Instant::now(), 1, true);
        assert_eq!(pause(&mut reach), 30);
    }

    #[test]
    fn wait_to_identify_counts_as_no_failure() {
        let (began, mut reach) = (Instant::now(), Reach::default());
        for (second, is_trying) in [(0, true), (10, false), (20, true), (40, true)] {
            reach.note(began + Duration::from_secs(second), 0, is_trying);
        }
        assert!(!reach.is_down(began + Duration::from_secs(44)));
        assert!(reach.is_down(began + Duration::from_secs(45)));
    }
}

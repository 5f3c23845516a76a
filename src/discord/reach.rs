//! Other processes on the store, and whether this one reaches Discord's gateway or leaves its shards
//! to them.
//!
//! Entry type: [`Reach`]. A process of which no shard is connected for [`DOWN_MAX`] gives back all
//! of them, if another has one that is connected, or has none at all, so that nothing speaks against
//! it. Then it takes none for a pause, which doubles each time until a shard is connected here
//! again, and ends early if no other process is left. While Discord itself is away no shard is
//! connected anywhere: shards stay, or are tried by a process without any, once in a pause.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::rest::Fatal;
use crate::campaign::{Leases, Node, NodeStatus};

/// Longest time without a connected shard: serenity needs less to connect again, and 20 s of it are
/// over before a shard asks whether Discord refuses the bot for its size.
const DOWN_MAX: Duration = Duration::from_secs(25);
/// First pause, and the longest.
const PAUSE: Duration = Duration::from_secs(30);
const PAUSE_MAX: Duration = Duration::from_secs(600);
/// Longest wait for the store before a process that serves alone starts without its answer.
const ALONE_PATIENCE: Duration = Duration::from_secs(5);

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

    /// True while this process takes no shard.
    pub fn is_paused(&self, now: Instant) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }

    /// Begins a pause if this process, `node`, is down and another of `nodes` is not, and ends one
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

/// Fails if another process shares the store: this one, which serves alone, would serve the same
/// servers beside it. A store that does not answer stops no process.
pub async fn check_alone(leases: &dyn Leases) -> Result<(), Fatal> {
    let Ok(Ok(nodes)) = timeout(ALONE_PATIENCE, leases.nodes()).await else { return Ok(()) };
    let Some(other) = nodes.iter().find(|it| !it.is_gone) else { return Ok(()) };
    Err(Fatal::Leases(format!(
        "node '{}' runs on the same database, and both would play at the same tables (set 'cluster' \
         as it has, or use --node; or end all nodes first; another bot needs its own database, named \
         in 'memory.url')",
        other.node.name
    )))
}

/// Living processes other than `node` that are not cut off from Discord.
fn others<'n>(nodes: &'n [NodeStatus], node: &Node) -> impl Iterator<Item = &'n NodeStatus> {
    nodes.iter().filter(move |it| it.node.run != node.run && !it.is_gone && !it.node.is_cut_off)
}

/// `node` itself, if it lives, and others with room for sessions.
pub fn living<'n>(
    nodes: &'n [NodeStatus],
    node: &Node,
) -> (Vec<&'n NodeStatus>, Vec<&'n NodeStatus>) {
    let own = nodes.iter().filter(|it| it.node.run == node.run && !it.is_gone);
    (own.collect(), others(nodes, node).filter(|it| !it.node.is_full()).collect())
}

/// How many sessions the processes may begin.
pub fn room(nodes: &[&NodeStatus]) -> usize {
    let left = |node: &Node| match node.capacity {
        Some(capacity) => capacity.saturating_sub(node.tables),
        None => u32::MAX,
    };
    let left = nodes.iter().map(|it| usize::try_from(left(&it.node)).unwrap_or(usize::MAX));
    left.fold(0, usize::saturating_add)
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
    fn shards_go_to_processes_that_reach_discord() {
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

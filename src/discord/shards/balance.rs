//! How shards without a session are shared out: what this node gives to others.
//!
//! Entry functions: [`given`], [`surplus`].

use std::{collections::BTreeSet, time::Duration};

use super::reach::others;
use crate::campaign::{Node, NodeStatus, fair_share};

/// Interval of looks at other nodes.
pub const BALANCE_EVERY: Duration = Duration::from_secs(15);

/// Shards among the `idle` ones of `node` to give to other nodes: those where a session was
/// `refused`, if others have room for it, then as many as are above its share.
pub fn given(
    nodes: &[NodeStatus],
    node: &Node,
    idle: Vec<u32>,
    refused: &BTreeSet<u32>,
) -> BTreeSet<u32> {
    let (own, others) = living(nodes, node);
    let room = match own.iter().any(|it| it.node.is_full()) {
        true => room(&others),
        // This node has room itself.
        false => 0,
    };
    let (asked, rest): (Vec<_>, Vec<_>) = idle.into_iter().partition(|it| refused.contains(it));
    let mut given: BTreeSet<u32> = asked.into_iter().take(room).collect();
    let surplus = surplus(nodes, node).saturating_sub(given.len());
    given.extend(rest.into_iter().take(surplus));
    given
}

/// How many shards `node` has above the fair share that other living nodes with room lack.
pub fn surplus(nodes: &[NodeStatus], node: &Node) -> usize {
    let (own, others) = living(nodes, node);
    let share = fair_share(node.shards, (others.len() as u64).saturating_add(1));
    let share = usize::try_from(share).unwrap_or(usize::MAX);
    let above: usize = own.iter().map(|it| it.leases.len().saturating_sub(share)).sum();
    // A share is rounded up, so the others together may lack less than each by itself.
    let lacked: usize = others.iter().map(|it| share.saturating_sub(it.leases.len())).sum();
    above.min(lacked)
}

/// `node` itself, if it lives, and others with room for sessions.
fn living<'n>(nodes: &'n [NodeStatus], node: &Node) -> (Vec<&'n NodeStatus>, Vec<&'n NodeStatus>) {
    let own = nodes.iter().filter(|it| it.node.run == node.run && !it.is_gone);
    (own.collect(), others(nodes, node).filter(|it| !it.node.is_full()).collect())
}

/// How many sessions the nodes may begin.
fn room(nodes: &[&NodeStatus]) -> usize {
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

    fn node(run: u32) -> Node {
        Node { run: run.to_string(), shards: 8, ..Node::default() }
    }

    #[test]
    fn surplus_is_what_others_lack() {
        for (held, surplus_of_first) in [
            (vec![8], 0),
            (vec![8, 0], 4),
            (vec![5, 3], 1),
            (vec![8, 0, 0], 5),
            (vec![3, 3, 2], 0),
            (vec![4, 4], 0),
        ] {
            let status = |(index, held): (u32, u32)| NodeStatus {
                node: node(index),
                seen_ago: Duration::ZERO,
                is_gone: false,
                leases: (0..held).map(|shard| Lease { shard, epoch: 1 }).collect(),
            };
            let nodes: Vec<_> = (0..).zip(held.iter().copied()).map(status).collect();
            let given = given(&nodes, &nodes[0].node, (0..8).collect(), &BTreeSet::new());
            assert_eq!(given.len(), surplus_of_first, "{held:?}");
        }
    }

    #[test]
    fn given_are_shards_that_others_have_room_for() {
        let (none, one) = (BTreeSet::new(), BTreeSet::from([1, 2]));
        let full = (2, Some(2));
        for (tables, is_gone, refused, expected) in [
            ([full, (2, Some(3))], false, &one, vec![1]),
            ([full, (2, None)], false, &one, vec![1, 2]),
            ([full, (2, None)], false, &none, vec![]),
            ([full, full], false, &one, vec![]),
            ([full, (2, None)], true, &one, vec![]),
            // A session has ended meanwhile.
            ([(1, Some(2)), (2, None)], false, &one, vec![]),
        ] {
            let status = |(index, (tables, capacity)): (u32, _)| {
                let node = Node { tables, capacity, ..node(index) };
                let (seen_ago, is_gone) = (Duration::ZERO, is_gone && index == 1);
                let leases = (0..4).map(|it| Lease { shard: index * 4 + it, epoch: 1 });
                NodeStatus { node, seen_ago, is_gone, leases: leases.collect() }
            };
            let nodes: Vec<_> = (0..).zip(tables).map(status).collect();
            let given = given(&nodes, &nodes[0].node, vec![0, 1, 2], refused);
            assert_eq!(given.into_iter().collect::<Vec<_>>(), expected, "{tables:?}, {is_gone}");
        }
    }
}

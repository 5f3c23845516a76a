//! `glyphoxa nodes`: lists the processes that share the store, and their shards.
//!
//! Entry function: [`run`]. **Never**: renews or takes a lease.

use std::{collections::BTreeSet, io::Write};

use clap::Args;
use serde_json::{Value, json};

use super::{DONE, Failure, block_on, complain, counted, stdout};
use crate::{
    app,
    config::Config,
    domain::revealed_name,
    memory::{Lease, NodeStatus},
};

/// Answer for a store that no second process can share.
const ALONE: &str = "the memory is a file, so one process serves everything (several share a \
     PostgreSQL: 'memory.url')";

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa nodes
  glyphoxa nodes --json
A node that ended without giving back its shards is listed as gone for a minute.")]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(config: &Config, Arguments { json }: &Arguments) -> Result<u8, Failure> {
    block_on(async {
        let nodes = app::nodes(config).await?;
        let mut out = stdout();
        match (&nodes, *json) {
            (None, false) => writeln!(out, "{ALONE}")?,
            (nodes, true) => {
                if nodes.is_none() {
                    complain(&format!("note: {ALONE}"));
                }
                writeln!(out, "{}", object(nodes.as_deref().unwrap_or_default()))?;
            }
            (Some(nodes), false) => {
                for line in lines(nodes) {
                    writeln!(out, "{line}")?;
                }
            }
        }
        Ok(DONE)
    })
}

/// For people: a line a node, then one about free shards, if any.
fn lines(nodes: &[NodeStatus]) -> Vec<String> {
    if nodes.is_empty() {
        return vec!["no node runs on this PostgreSQL (start one: glyphoxa run)".to_owned()];
    }
    let mut lines: Vec<String> = nodes.iter().map(line).collect();
    let (shards, free) = shards(nodes);
    if !free.is_empty() {
        let free: Vec<String> = free.iter().map(u32::to_string).collect();
        lines.push(format!(
            "free shards, which no node serves now: {} of {shards} ({})",
            free.len(),
            free.join(", ")
        ));
    }
    lines
}

/// "alpha 0.1.0: 2 of 4 shards: 0 (epoch 3), 1 (epoch 3); 2 of 8 tables; seen 1 s ago".
fn line(status: &NodeStatus) -> String {
    let NodeStatus { node, seen_ago, is_gone, leases } = status;
    let held: Vec<String> =
        leases.iter().map(|Lease { shard, epoch }| format!("{shard} (epoch {epoch})")).collect();
    let held = match held.is_empty() {
        true => "no shard".to_owned(),
        false => format!("{} of {} shards: {}", held.len(), node.shards, held.join(", ")),
    };
    let tables = match node.capacity {
        Some(capacity) => format!("{} of {}", node.tables, counted(capacity, "table")),
        None => counted(node.tables, "table"),
    };
    let cut_off = if node.is_cut_off { "cut off from Discord, " } else { "" };
    let gone = if *is_gone { "gone, " } else { "" };
    format!(
        "{} {}: {held}; {tables}; {cut_off}{gone}seen {} s ago",
        revealed_name(&node.name),
        revealed_name(&node.build),
        seen_ago.as_secs()
    )
}

fn object(nodes: &[NodeStatus]) -> Value {
    let (shards, free) = shards(nodes);
    let nodes = nodes.iter().map(|status| {
        let NodeStatus { node, seen_ago, is_gone, leases } = status;
        let leases = leases.iter().map(|it| json!({ "shard": it.shard, "epoch": it.epoch }));
        json!({
            "name": node.name, "run": node.run, "version": node.build, "tables": node.tables,
            "capacity": node.capacity, "connected": node.connected, "cut_off": node.is_cut_off,
            "leases": leases.collect::<Vec<_>>(),
            "gone": is_gone, "seen_seconds_ago": seen_ago.as_secs_f64(),
        })
    });
    json!({ "shards": shards, "free": free, "nodes": nodes.collect::<Vec<_>>() })
}

/// Number of shards of the bot, by the node seen last, and those without a lease.
fn shards(nodes: &[NodeStatus]) -> (u32, Vec<u32>) {
    let last = nodes.iter().min_by_key(|it| it.seen_ago);
    let shards = last.map_or(0, |it| it.node.shards);
    let held: BTreeSet<u32> = nodes.iter().flat_map(|it| &it.leases).map(|it| it.shard).collect();
    (shards, (0..shards).filter(|shard| !held.contains(shard)).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::memory::Node;

    fn status(name: &str, seen_ms: u64, leases: &[(u32, u64)]) -> NodeStatus {
        let tables = u32::try_from(leases.len()).unwrap();
        NodeStatus {
            node: Node {
                name: name.to_owned(),
                run: format!("run of {name}"),
                build: "1.2.3".to_owned(),
                shards: 4,
                tables,
                ..Node::default()
            },
            seen_ago: Duration::from_millis(seen_ms),
            is_gone: false,
            leases: leases.iter().map(|&(shard, epoch)| Lease { shard, epoch }).collect(),
        }
    }

    #[test]
    fn nodes_are_listed_with_their_shards() {
        let mut all = [status("alpha", 1_400, &[(0, 3), (1, 1)]), status("beta", 6_000, &[(2, 1)])];
        all[0].node.capacity = Some(8);
        assert_eq!(
            lines(&all),
            [
                "alpha 1.2.3: 2 of 4 shards: 0 (epoch 3), 1 (epoch 1); 2 of 8 tables; seen 1 s ago",
                "beta 1.2.3: 1 of 4 shards: 2 (epoch 1); 1 table; seen 6 s ago",
                "free shards, which no node serves now: 1 of 4 (3)",
            ]
        );
        assert!(lines(&[])[0].starts_with("no node runs"));
    }

    #[test]
    fn node_without_renewals_is_gone() {
        let mut gone = status("\u{1b}[2Jbeta\nalpha", 6_001, &[]);
        (gone.is_gone, gone.node.shards, gone.node.is_cut_off) = (true, 9, true);
        let all = [status("alpha", 200, &[(0, 1), (1, 1), (2, 1), (3, 1)]), gone];
        let lines = lines(&all);
        assert_eq!(lines.len(), 2, "no shard is free by the number of living nodes: {lines:?}");
        assert!(
            lines[1]
                .ends_with(" 1.2.3: no shard; 0 tables; cut off from Discord, gone, seen 6 s ago"),
            "{lines:?}"
        );
        assert!(!lines[1].contains(['\n', '\u{1b}']), "{lines:?}");
    }

    #[test]
    fn programs_get_the_nodes_as_one_object() {
        let gone = NodeStatus { is_gone: true, ..status("alpha", 6_500, &[(1, 7)]) };
        let value = object(&[gone]);
        assert_eq!((&value["shards"], &value["free"]), (&json!(4), &json!([0, 2, 3])));
        assert_eq!(
            value["nodes"],
            json!([{
                "name": "alpha", "run": "run of alpha", "version": "1.2.3", "tables": 1,
                "capacity": null, "connected": 0, "cut_off": false,
                "leases": [{ "shard": 1, "epoch": 7 }], "gone": true, "seen_seconds_ago": 6.5,
            }])
        );
        assert_eq!(object(&[]), json!({ "shards": 0, "free": [], "nodes": [] }));
    }
}

//! Bounds that a cluster may exceed, and the remedy for each.

use std::{fs, thread};

use serde_json::{Value, json};

use super::{postgres::Measured, support::figures::rounded};

/// Sessions of the gateway that Discord lets a bot start a day, unless it is among the largest.
const IDENTIFIES: f64 = 1_000.0;

/// Needs of one case.
pub struct Needs {
    /// Identifies on a day with a start of all, an upgrade of all one by one, and a death.
    pub identifies: f64,
    /// Commits a second.
    pub commits: f64,
    /// Processes with shards, and without any.
    pub nodes: (f64, f64),
    /// Shards.
    pub shards: f64,
    /// Cores of the process with most tables.
    pub cores: f64,
    /// MB of it.
    pub mb: f64,
}

/// A limited resource.
struct Bound {
    name: &'static str,
    needed: f64,
    limit: f64,
    then: &'static str,
}

impl Bound {
    fn share(&self) -> f64 {
        self.needed / self.limit
    }

    fn line(&self) -> Value {
        json!({
            "bound": self.name, "needed": rounded(self.needed), "limit": rounded(self.limit),
            "share": rounded(self.share()),
        })
    }
}

/// Adds all bounds to a line, those nearest to their limits first, and the first one that is
/// exceeded. Those of PostgreSQL need a server that was measured.
pub fn add_to(line: &mut Value, needs: &Needs, server: Option<&Measured>) {
    let (serving, idle) = needs.nodes;
    let mut all = vec![
        Bound {
            name: "identifies a day",
            needed: needs.identifies,
            limit: IDENTIFIES,
            then: "restart fewer processes a day; Discord raises the limit of bots in more than \
                   150,000 servers",
        },
        Bound {
            name: "processes with a shard",
            needed: serving + idle,
            limit: needs.shards,
            then: "run fewer, larger processes: those without a shard only wait; or set more \
                   'cluster.shards', each of which costs an identify",
        },
        Bound {
            name: "cores of the fullest process, as many as here",
            needed: needs.cores,
            limit: thread::available_parallelism().map_or(f64::NAN, |cores| cores.get() as f64),
            then: "run more processes, or larger machines; more 'cluster.shards' spread tables \
                   better",
        },
        Bound {
            name: "MB of the fullest process, as many as here",
            needed: needs.mb,
            limit: machine_mb(),
            then: "run more processes, or larger machines",
        },
    ];
    if let Some(server) = server {
        all.push(Bound {
            name: "commits a second, of a server as here",
            needed: needs.commits,
            limit: server.commits,
            then: "give PostgreSQL its own machine and a disk that flushes faster; beyond that, \
                   run several bots, each with a database of its own",
        });
        all.push(Bound {
            name: "connections of PostgreSQL",
            needed: server.connections.1 * serving + server.connections.0 * idle,
            limit: server.connections_max,
            then: "raise max_connections, or run fewer, larger processes",
        });
    }
    all.retain(|bound| bound.share().is_finite());
    all.sort_by(|a, b| b.share().total_cmp(&a.share()));
    line["bounds"] = all.iter().map(Bound::line).collect();
    let first = all.first().filter(|first| first.share() > 1.0);
    line["breaks_first"] = first.map_or(Value::Null, |first| first.name.into());
    line["then"] = first.map_or(Value::Null, |first| first.then.into());
}

/// Memory of this machine.
fn machine_mb() -> f64 {
    let text = fs::read_to_string("/proc/meminfo").expect("Linux");
    let line = text.lines().find(|line| line.starts_with("MemTotal:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kb.expect("a number of kB") * 1_024.0 / 1e6
}

//! A bot of 100,000 servers by 1 to 1,000 processes, 5,000 of its tables talking: a model, the same
//! in each run, of how long all take to identify, how long shards are silent after the death of a
//! process, what PostgreSQL and the processes need, and what breaks first. One JSON line per case,
//! then one that says which goals hold.
//!
//! Leases come and go by the program's own intervals and decisions. What a renewal and a table's
//! writes take is measured in the same run in the PostgreSQL of `GLYPHOXA_TEST_POSTGRES`, where a
//! database is made and removed; cores and memory are those of benches/README.md. `--quick` lets few
//! processes die, and measures for a second.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench without its figures is none")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

mod bounds;
mod demand;
mod leasing;
mod postgres;

use std::{env, time::Duration};

use bounds::Needs;
use demand::{Costs, Writes, table_hours};
use glyphoxa::measure::{IDENTIFY_APART, shard_of};
use leasing::{Bot, Cluster};
use postgres::Measured;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use support::figures::{Figures, goal, rounded, runtime};

/// Servers of the bot, and of a shard, as Discord advises.
const GUILDS: u32 = 100_000;
const GUILDS_OF_SHARD: u32 = 1_000;
/// Tables that talk at once.
const TABLES: u32 = 5_000;
/// Processes.
const NODES: [usize; 5] = [1, 3, 10, 100, 1_000];
/// Discord's `max_concurrency` of most bots, and of a large one.
const BUCKETS: [u32; 2] = [1, 16];
/// From an identify until an NPC can speak again: gateway, voice channel, the table's state.
/// Assumed: only Discord's own servers could tell.
const CONNECTS: Duration = Duration::from_secs(2);

fn main() {
    let quick = env::args().any(|argument| argument == "--quick");
    let (n, length) = if quick { (10, 1) } else { (300, 5) };
    let server = runtime().block_on(postgres::measure(n, Duration::from_secs(length)));
    if let Some(server) = &server {
        print_server(server);
    }
    table_hours().iter().for_each(print);
    let deaths = if quick { 5 } else { 200 };
    let mut lines = Vec::new();
    // The smallest cluster that is tested on the loopback, then the large ones.
    let tested = Bot { nodes: 3, shards: 8, buckets: 16 };
    let shards = GUILDS / GUILDS_OF_SHARD;
    let large =
        NODES.into_iter().flat_map(|nodes| BUCKETS.map(|buckets| Bot { nodes, shards, buckets }));
    for bot in [tested].into_iter().chain(large) {
        let line = case(bot, deaths, server.as_ref());
        print(&line);
        lines.push(line);
    }
    print(&goals(&lines, server.as_ref()));
}

/// One line.
fn print(line: &Value) {
    println!("{line}");
}

fn print_server(server: &Measured) {
    for (request, times) in &server.alone {
        let mut line = times.line("postgres_alone");
        line["request"] = (*request).into();
        print(&line);
    }
    let mut line = server.renewals.line("postgres_together");
    line["commits_per_s"] = rounded(server.commits);
    line["connections_of_idle_process"] = rounded(server.connections.0);
    line["connections_of_process"] = rounded(server.connections.1);
    line["connections_max"] = rounded(server.connections_max);
    print(&line);
}

/// A bot's line.
fn case(bot: Bot, deaths: usize, server: Option<&Measured>) -> Value {
    let mut dice = StdRng::seed_from_u64(58);
    let mut cold = Cluster::start(bot, true, &mut dice);
    let all_open = cold.open_all();
    let mut settled = Cluster::start(bot, false, &mut dice);
    settled.settle();
    let tables = tables_of_shards(bot.shards, &mut dice);
    let of_node = settled.shards_of_nodes().map(|shards| (shards.len(), played(shards, &tables)));
    let of_node: Vec<(usize, u32)> = of_node.collect();
    let serving = of_node.iter().filter(|(shards, _)| *shards > 0).count();
    let fullest = of_node.iter().map(|(_, tables)| *tables).max().expect("a process");

    let replaced = mean((0..deaths).map(|_| settled.clone().replacement(&mut dice) as f64));
    let upgrade = replaced * serving as f64;
    let mut line = json!({
        "case": "cluster", "nodes": bot.nodes, "shards": bot.shards,
        "max_concurrency": bot.buckets, "idle_nodes": bot.nodes - serving,
        "all_identified_s": rounded(all_open.as_secs_f64()),
        "all_identified_at_best_s": rounded(at_best(bot).as_secs_f64()),
        "identifies_of_start": cold.identifies(), "identifies_of_upgrade": rounded(upgrade),
    });
    let died = if bot.nodes > 1 { add_deaths(&mut line, &settled, deaths, &mut dice) } else { 0.0 };
    let (writes, costs) = (Writes::of(bot.nodes, TABLES), Costs::documented());
    line["postgres"] = writes.line();
    let ((cores, mb), (local_cores, local_mb)) = (costs.of(fullest), costs.of_local(fullest));
    line["fullest_node"] = json!({
        "tables": fullest, "cores": rounded(cores), "mb": rounded(mb),
        "cores_with_whisper_and_piper": rounded(local_cores),
        "mb_with_whisper_and_piper": rounded(local_mb),
    });
    line["not_counted"] = "what the gateway says of servers, kept in memory".into();
    let needs = Needs {
        identifies: cold.identifies() as f64 + upgrade + died,
        commits: writes.commits(),
        nodes: (serving as f64, (bot.nodes - serving) as f64),
        shards: f64::from(bot.shards),
        cores,
        mb,
    };
    bounds::add_to(&mut line, &needs, server);
    line
}

/// Adds what shards of a process that dies are silent for; the identifies that a death takes.
fn add_deaths(line: &mut Value, settled: &Cluster, deaths: usize, dice: &mut StdRng) -> f64 {
    let died: Vec<_> = (0..deaths).map(|_| settled.clone().death(dice)).collect();
    let silent = |until: Duration| (until + CONNECTS).as_secs_f64();
    let first = Figures::new(died.iter().map(|death| silent(death.first)));
    let last = Figures::new(died.iter().map(|death| silent(death.last)));
    for (name, times) in [("first", first), ("last", last)] {
        line[format!("{name}_shard_silent_p50_s")] = rounded(times.at(50));
        line[format!("{name}_shard_silent_longest_s")] = rounded(times.at(100));
    }
    line["assumed_to_connect_s"] = rounded(CONNECTS.as_secs_f64());
    mean(died.iter().map(|death| death.identifies as f64))
}

/// Talking tables of each shard: servers drawn from all ids.
fn tables_of_shards(shards: u32, dice: &mut StdRng) -> Vec<u32> {
    let mut tables = vec![0; shards as usize];
    for _ in 0..TABLES {
        tables[shard_of(dice.random_range(0..u64::MAX), shards) as usize] += 1;
    }
    tables
}

/// Tables of these shards.
fn played<'a>(shards: impl IntoIterator<Item = &'a u32>, tables: &[u32]) -> u32 {
    shards.into_iter().map(|shard| tables[*shard as usize]).sum()
}

/// Time until all have identified if no bucket ever waits for a process.
fn at_best(bot: Bot) -> Duration {
    IDENTIFY_APART * (bot.shards.div_ceil(bot.buckets) - 1)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// Verdicts.
fn goals(lines: &[Value], server: Option<&Measured>) -> Value {
    let figure = |line: &Value, name: &str| line[name].as_f64().unwrap_or(f64::NAN);
    let longest = |name: &str, of: &dyn Fn(&&Value) -> bool| {
        lines.iter().filter(of).map(|line| figure(line, name)).fold(f64::NAN, f64::max)
    };
    let is_large = |line: &&Value| line["max_concurrency"] == 16 && line["nodes"] != 1;
    let is_tested = |line: &&Value| line["shards"] == 8;
    let late =
        |line: &Value| figure(line, "all_identified_s") - figure(line, "all_identified_at_best_s");
    let mut goals = vec![
        goal(
            "s of silence of the first shard after a death, max_concurrency 16",
            longest("first_shard_silent_longest_s", &is_large),
            10.0,
        ),
        goal(
            "s of silence of the last of 8 shards in 3 processes, max_concurrency 16",
            longest("last_shard_silent_longest_s", &is_tested),
            10.0,
        ),
        goal(
            "s to identify after a start of all, beyond what Discord asks",
            lines.iter().map(late).fold(f64::NAN, f64::max),
            20.0,
        ),
    ];
    if let Some(server) = server {
        goals.push(goal(
            "ms of a renewal while 24 tables write as fast as they can, p99",
            server.renewals.at(99),
            1_500.0,
        ));
    }
    json!({ "goals": goals })
}

//! The bot on a Discord of its own: how fast it answers, how fast it gives way, and what thirty
//! guilds cost. One JSON line per case, then one that says which goals hold.
//!
//! Encryption end to end is on. The bot is the program's, with stand-ins that answer at once
//! behind it, in a process of its own; Discord and its players run in this one. `path`: a player's
//! last voiced packet to the first audible one of the answer, less the silence that ends a turn;
//! `floor` is what songbird alone takes, in the same minutes. `barge_in`: a player talks into what
//! the NPC says. `guilds`: thirty tables that listen; `--minutes N` instead of ten; then for a quarter
//! of that each: with music, with NPCs that talk, with both. `--quick` tries each a few times; a case's
//! name runs that one alone.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of a silent bot is none")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

mod barge_in;
mod bot;
mod floor;
mod guilds;
mod hall;
mod music;
mod path;
mod sound;

use std::{env, time::Duration};

use serde_json::{Value, json};
use support::figures::runtime;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // An error only says that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match arguments.first().map(String::as_str) {
        Some(bot::BOT) => return bot::run(&arguments[1..]),
        Some(floor::FLOOR) => return floor::run(&arguments[1..]),
        _ => {}
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = has("--quick");
    let minutes = arguments.iter().position(|argument| argument == "--minutes");
    let minutes = minutes.map(|at| arguments[at + 1].parse().expect("a number of minutes"));
    let minutes = minutes.unwrap_or(if quick { 1 } else { 10 });
    let all = !["path", "barge_in", "guilds"].into_iter().any(has);
    let runtime = runtime();
    let mut goals: Vec<Value> = Vec::new();
    if all || has("path") {
        goals.extend(runtime.block_on(path::measure(if quick { 9 } else { 100 })));
    }
    if all || has("barge_in") {
        goals.extend(runtime.block_on(barge_in::measure(if quick { 4 } else { 40 })));
    }
    if all || has("guilds") {
        let tables = if quick { 5 } else { 30 };
        let time = Duration::from_secs(60 * minutes);
        goals.extend(runtime.block_on(guilds::measure(tables, time)));
    }
    println!("{}", json!({ "goals": goals }));
}

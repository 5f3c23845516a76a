//! The bot on a Discord of its own: how fast it answers, how fast it gives way, and what thirty
//! guilds cost. One JSON line per case, then one that says which goals hold.
//!
//! Encryption end to end is on. The bot is the program's, with stand-ins that answer at once
//! behind it, in a process of its own; Discord and its players run in this one. `path`: a player's
//! last voiced packet to the first audible one of the answer, less the silence that ends a turn;
//! `floor` is what songbird alone takes, in the same minutes. `barge_in`: a player talks into what
//! the NPC says. `guilds`: thirty tables that listen; `--minutes N` instead of ten; then for a quarter
//! of that each: with music, with NPCs that talk, with both. `--quick` tries each once, all at the same
//! time, and of `guilds` one table with both; a case's name runs that one alone.

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

use serde_json::json;
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
    let minutes = minutes.map(|at| arguments[at + 1].parse::<u64>().expect("a number of minutes"));
    let time = Duration::from_secs(60 * minutes.unwrap_or(10));
    let all = !["path", "barge_in", "guilds"].into_iter().any(has);
    let wants = |name: &str| all || has(name);
    let path = async {
        if wants("path") { path::measure(if quick { 1 } else { 100 }).await } else { Vec::new() }
    };
    let barge_in = async {
        let n = if quick { 1 } else { 40 };
        if wants("barge_in") { barge_in::measure(n).await } else { Vec::new() }
    };
    let guilds = async {
        match wants("guilds") {
            true if quick => guilds::try_out().await,
            true => guilds::measure(30, time).await,
            false => Vec::new(),
        }
    };
    let goals = runtime().block_on(async {
        if !quick {
            return [path.await, barge_in.await, guilds.await].concat();
        }
        let (path, barge_in, guilds) = tokio::join!(path, barge_in, guilds);
        [path, barge_in, guilds].concat()
    });
    println!("{}", json!({ "goals": goals }));
}

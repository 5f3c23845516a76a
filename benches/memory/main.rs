//! The memory at 100,000 and at a million lines, in both stores: how long it takes to write a line
//! down, to find what was said, to be reminded, to look around in the world and to find by meaning.
//! One JSON line per case, then one that says which goals hold.
//!
//! Nearly all lines are in one campaign, which is the hardest case; four small ones lie among them.
//! `append` takes turns with a bare flush of the same disk. PostgreSQL is the one of
//! `GLYPHOXA_TEST_POSTGRES`, where a database is made and removed. `--lines N` instead of both sizes,
//! `--times N` instead of four hundred;
//! `--keep FOLDER` leaves what was filled there for the next run; a store's name (`sqlite`,
//! `postgres`) or a case's runs that alone; `--quick` tries each a few times on 4,000 lines
//! and a tenth of the world.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "and how far it has come")]
#![expect(clippy::expect_used, reason = "a bench of failing calls is none")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

mod cases;
mod corpus;
mod recall;
mod stores;

use std::env;

use cases::Bench;
use corpus::Vocabulary;
use serde_json::{Value, json};
use stores::{Engine, Filled, Place};
use support::figures::runtime;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let quick = has("--quick");
    let lines = after("--lines").map(|lines| lines.parse().expect("a number of lines"));
    let sizes = match lines {
        Some(lines) => vec![lines],
        None if quick => vec![4_000],
        None => vec![100_000, 1_000_000],
    };
    let engines = [Engine::Sqlite, Engine::Postgres].into_iter();
    let all = !has("sqlite") && !has("postgres");
    let engines: Vec<Engine> = engines.filter(|engine| all || has(engine.name())).collect();
    let known = ["append", "search", "recall", "graph", "nearest"];
    let cases: Vec<String> =
        arguments.iter().filter(|it| known.contains(&it.as_str())).cloned().collect();
    let place = Place::new(after("--keep"));
    let words = Vocabulary::new();
    let n = match after("--times") {
        Some(times) => times.parse().expect("a number of times"),
        None if quick => 4,
        None => 400,
    };
    let goals: Vec<Value> = runtime().block_on(async {
        let mut goals = Vec::new();
        for lines in sizes {
            for engine in &engines {
                let Some(filled) = Filled::open(*engine, &place, &words, lines).await else {
                    continue;
                };
                let (place, words) = (&place, &words);
                let bench = Bench { engine: *engine, filled: &filled, place, words, n };
                goals.extend(bench.all(&cases).await);
                filled.close().await;
            }
        }
        goals
    });
    print(&json!({ "goals": goals }));
}

/// One line.
fn print(line: &Value) {
    println!("{line}");
}

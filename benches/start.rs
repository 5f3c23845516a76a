//! Start: from starting the program to a table that answers, and what it then holds in memory.
//! One JSON line per case, then one that says which goals hold.
//!
//! The shipped cast without any server. `ready` ends when the program has opened the table and has
//! printed what became of a first line, which is addressed to no NPC: it is typed before the
//! program starts, so the time includes reading the configuration, opening the table and one pass
//! through it. `check` reads and checks all files only. `--quick` starts it twice.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of a program that fails is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::json;
use support::{
    figures::{Figures, goal, ms, rounded, runtime},
    process::{PROGRAM, Started, resident_mb},
};

/// Folder with the shipped configuration.
const HOME: &str = env!("CARGO_MANIFEST_DIR");
/// Wait until voices have prepared ahead.
const SETTLE: Duration = Duration::from_secs(2);

fn main() {
    let n = if env::args().any(|argument| argument == "--quick") { 2 } else { 40 };
    let started: Vec<_> = (0..n).map(|nth| ready(nth == 0)).collect();
    let times = Figures::new(started.iter().map(|(time, _)| *time));
    let resident = started.iter().find_map(|(_, resident)| *resident).unwrap_or(f64::NAN);
    let mut line = times.line("start");
    line["resident_idle_mb"] = rounded(resident);
    println!("{line}");
    println!("{}", Figures::new((0..n).map(|_| check())).line("check"));
    println!(
        "{}",
        json!({ "goals": [
            goal("start to ready in ms, p50", times.at(50), 100.0),
            goal("resident idle in MB", resident, 30.0),
        ] })
    );
}

/// Time in ms to the first line of output, and memory when the table is idle.
fn ready(weigh: bool) -> (f64, Option<f64>) {
    let started = Started::new(Path::new(HOME), "what a day", "nobody_addressed");
    let resident = weigh.then(|| {
        runtime().block_on(async { tokio::time::sleep(SETTLE).await });
        resident_mb(&started.id())
    });
    (started.end(), resident)
}

/// Time in ms of reading and checking all files.
fn check() -> f64 {
    let start = Instant::now();
    let mut check = Command::new(PROGRAM);
    let check = check.arg("check").current_dir(HOME).stdout(Stdio::null());
    assert!(check.status().expect("the program starts").success(), "the files are wrong");
    ms(start.elapsed())
}

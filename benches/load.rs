//! Load: what N tables cost while they listen and while they talk (a turn every 6 s), with and
//! without voice activity detection. One JSON line per case, then one that says which goals hold.
//!
//! Every N runs in a process of its own. Without VAD the recogniser ends utterances itself; with
//! it the tables do, on real speech-like sound. `--quick` runs small numbers for a short time.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing turns is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    env,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use support::{
    figures::{Figures, Floor, TOKEN, TOKENS_BEFORE_SENTENCE, goal, ms, rounded, runtime},
    process::{cpu, resident_mb},
    sound::{LAST, babble, marked, silence},
    stand_ins::{Model, Recogniser, Synthesiser},
    table::{Room, Services},
};
use tokio::time::sleep;

/// Time between two utterances at one table.
const EVERY: Duration = Duration::from_secs(6);
/// Silence that ends an utterance where the table decides that.
const PATIENCE: Duration = Duration::from_millis(500);
/// Settling before anything is measured.
const SETTLE: Duration = Duration::from_secs(2);
/// Token clocks before and after.
const CLOCKS: usize = 40;

/// One process: so many tables.
#[derive(Clone, Copy)]
struct Case {
    /// Tables.
    tables: u32,
    /// They tell speech from silence themselves.
    vad: bool,
    /// How long they only listen.
    listen: Duration,
    /// How long they talk.
    talk: Duration,
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    if let Some(at) = arguments.iter().position(|argument| argument == "--one") {
        let tables = arguments[at + 1].parse().expect("a number of tables");
        return one(Case::new(tables, arguments[at + 2] == "vad", quick));
    }
    let numbers: &[u32] = if quick { &[1, 10] } else { &[1, 10, 50, 200] };
    let mut lines = Vec::new();
    for hearing in ["service", "vad"] {
        for tables in numbers {
            lines.extend(in_own_process(*tables, hearing, quick));
        }
    }
    let read_at = if quick { 10 } else { 50 };
    println!("{}", goals(&lines, read_at));
}

impl Case {
    /// A case and how long it runs.
    fn new(tables: u32, vad: bool, quick: bool) -> Self {
        let seconds = |full, short| Duration::from_secs(if quick { short } else { full });
        Self { tables, vad, listen: seconds(10, 1), talk: seconds(24, 6) }
    }

    /// What every table of it is made of.
    fn services(self) -> Services {
        Services {
            recogniser: Recogniser { ends_utterances: !self.vad, partial: None },
            model: Model { token: TOKEN, calls: false },
            synthesiser: Synthesiser::new(Duration::from_millis(100)),
        }
    }

    /// Half a second of speech.
    fn utterance(self) -> Vec<Arc<[i16]>> {
        let mut frames = if self.vad { babble(25) } else { vec![silence(); 25] };
        if let Some(last) = frames.last_mut() {
            *last = marked(last, LAST);
        }
        frames
    }

    /// `doing` and with what.
    fn line(self, doing: &str) -> Value {
        let vad = if self.vad { "_vad" } else { "" };
        json!({ "case": format!("{doing}{vad}"), "tables": self.tables })
    }
}

/// Runs this program again for one case; its lines, printed.
fn in_own_process(tables: u32, hearing: &str, quick: bool) -> Vec<Value> {
    let mut command = Command::new(env::current_exe().expect("a program"));
    command.args(["--one", &tables.to_string(), hearing]).stderr(Stdio::inherit());
    if quick {
        command.arg("--quick");
    }
    let output = command.output().expect("the same program again");
    assert!(output.status.success(), "{tables} tables ({hearing}) failed");
    let text = String::from_utf8(output.stdout).expect("JSON");
    print!("{text}");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Listens, then talks, and prints a line for each.
fn one(case: Case) {
    let floor = Floor::new();
    let mut clocks = floor.measure(CLOCKS, TOKEN);
    let runtime = runtime();
    let (rooms, one_table) = runtime.block_on(open(case));
    let (before, began) = (cpu(), Instant::now());
    runtime.block_on(async { sleep(case.listen).await });
    print_listening(case, (before, began), one_table);
    let (before, began) = (cpu(), Instant::now());
    let totals = runtime.block_on(talk(case, rooms));
    let spent = per_session_minute(case, before, began);
    let resident = resident_mb("self");
    drop(runtime);
    clocks.extend(floor.measure(CLOCKS, TOKEN));
    let mut line = case.line("talking");
    let totals = Figures::new(totals);
    line["n"] = totals.n().into();
    line["cpu_s_per_session_minute"] = spent;
    line["rss_per_session_mb"] = per_further_table(case, resident, one_table);
    let patience = if case.vad { ms(PATIENCE) } else { 0.0 };
    let expected = ms(TOKEN * TOKENS_BEFORE_SENTENCE) + patience;
    totals.less(expected).add_to(&mut line, "overhead_");
    line["bare_loop_floor_ms"] = rounded(Figures::new(clocks).at(50));
    println!("{line}");
}

/// Opens one table, then the others, each with its frames at its own moment within 20 ms; memory
/// with the first alone.
async fn open(case: Case) -> (Vec<Room>, f64) {
    let mut rooms = vec![Room::open(case.services(), Duration::ZERO).await];
    sleep(SETTLE).await;
    let one_table = resident_mb("self");
    for nth in 1..case.tables {
        let phase = Duration::from_millis(20) * nth / case.tables;
        rooms.push(Room::open(case.services(), phase).await);
    }
    sleep(SETTLE).await;
    (rooms, one_table)
}

/// The line of tables that have listened since `began`.
fn print_listening(case: Case, (before, began): (Duration, Instant), one_table: f64) {
    let mut line = case.line("listening");
    line["cpu_s_per_session_minute"] = per_session_minute(case, before, began);
    let resident = resident_mb("self");
    line["rss_per_session_mb"] = per_further_table(case, resident, one_table);
    line["rss_mb"] = rounded(resident);
    println!("{line}");
}

/// Every table has a turn every 6 s, evenly spread; all totals in ms.
async fn talk(case: Case, rooms: Vec<Room>) -> Vec<f64> {
    let start = Instant::now();
    let talking: Vec<_> = (0_u32..)
        .zip(rooms)
        .map(|(nth, mut room)| {
            tokio::spawn(async move {
                let mut totals = Vec::new();
                let mut due = EVERY * nth / case.tables;
                while due < case.talk {
                    tokio::time::sleep_until((start + due).into()).await;
                    totals.push(ms(room.turn(case.utterance()).await));
                    due += EVERY;
                }
                tokio::time::sleep_until((start + case.talk).into()).await;
                (room, totals)
            })
        })
        .collect();
    let mut totals = Vec::new();
    // The rooms live until all is measured.
    let mut rooms = Vec::new();
    for table in talking {
        let (room, of_table) = table.await.expect("every turn was answered");
        totals.extend(of_table);
        rooms.push(room);
    }
    totals
}

/// CPU-seconds of one table's minute since `began`.
fn per_session_minute(case: Case, before: Duration, began: Instant) -> Value {
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    rounded((cpu() - before).as_secs_f64() / minutes / f64::from(case.tables))
}

/// Memory of each table after the first; `null` for one alone.
fn per_further_table(case: Case, resident: f64, one_table: f64) -> Value {
    rounded((resident - one_table) / f64::from(case.tables - 1))
}

/// Whether the goals hold with `tables` tables.
fn goals(lines: &[Value], tables: u32) -> Value {
    let figure = |case: &str, name: &str| {
        let line = lines.iter().find(|line| line["case"] == case && line["tables"] == tables);
        line.and_then(|line| line[name].as_f64()).unwrap_or(f64::NAN)
    };
    let floor = figure("talking", "bare_loop_floor_ms") - ms(TOKEN * TOKENS_BEFORE_SENTENCE);
    let (p50, p99) = (figure("talking", "overhead_p50_ms"), figure("talking", "overhead_p99_ms"));
    json!({
        "tables": tables,
        "goals": [
            {
                "goal": "turn while all talk, p50 <= 2 ms, p99 <= 5 ms",
                "absolute": p50 <= 2.0 && p99 <= 5.0,
                "relative": p50 <= floor + 1.0 && p99 <= floor + 3.0,
            },
            goal("CPU-s of a listening minute", figure("listening", "cpu_s_per_session_minute"), 0.05),
            goal("the same with VAD", figure("listening_vad", "cpu_s_per_session_minute"), 0.15),
            goal("MB of a further table", figure("listening", "rss_per_session_mb"), 0.1),
            goal("the same with VAD", figure("listening_vad", "rss_per_session_mb"), 0.2),
        ],
    })
}

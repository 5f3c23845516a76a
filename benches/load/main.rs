//! Load: what N tables cost while they listen and while they talk (a turn every 6 s), with and
//! without voice activity detection. One JSON line per case, then one that says which goals hold.
//!
//! Every N runs in a process of its own; the floor is measured beside it. Without VAD the
//! recogniser ends utterances itself; with it the tables do. The sound is speech-like. `source` is the
//! bench's own share: the same frames with no table. `--quick` has four tables with a turn each.
//!
//! `evening` is a case of its own, which only its name runs: 200 tables for thirty minutes
//! (`--minutes N`), of which 50 talk and 20 play music. `--quick` has a moment of it with twenty.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing turns is none")]

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

mod evening;
mod outputs;

use std::{
    env,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use evening::Evening;
use glyphoxa::measure::Frame;
use serde_json::{Value, json};
use support::{
    figures::{
        Figures, Floor, TOKEN, TOKENS_BEFORE_SENTENCE, add_floor, goal, ms, rounded, runtime,
        turns_goal,
    },
    process::{cpu, resident_mb},
    sound::utterance,
    stand_ins::{Model, Recogniser, Synthesiser},
    table::{Room, Services, nothing, open_unheard, phase},
};
use tokio::time::sleep;

/// Silence that ends an utterance where the table decides that.
const PATIENCE: Duration = Duration::from_millis(500);
/// Token clocks between two looks at the process beside them.
const CLOCKS: usize = 10;

/// One process: so many tables.
#[derive(Clone, Copy)]
struct Case {
    /// Tables.
    tables: u32,
    /// They tell speech from silence themselves.
    vad: bool,
    /// Settling before anything is measured.
    settle: Duration,
    /// Duration of listening only.
    listen: Duration,
    /// Duration of talking.
    talk: Duration,
    /// Time between two utterances at one table.
    every: Duration,
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let quick = has("--quick");
    let minutes: u64 = after("--minutes").map_or(30, |it| it.parse().expect("a number of minutes"));
    if let Some(at) = arguments.iter().position(|argument| argument == "--one") {
        let tables = arguments[at + 1].parse().expect("a number of tables");
        return match arguments[at + 2].as_str() {
            "evening" => evening::run(Evening::new(tables, Some(minutes).filter(|_| !quick))),
            "source" => source(Case::new(tables, false, quick)),
            hearing => one(Case::new(tables, hearing == "vad", quick)),
        };
    }
    let length = match quick {
        true => vec!["--quick".to_owned()],
        false => vec!["--minutes".to_owned(), minutes.to_string()],
    };
    if !has("evening") {
        let numbers: &[u32] = if quick { &[4] } else { &[1, 10, 50, 200] };
        listen_and_talk(numbers, if quick { 4 } else { 50 }, &length);
    }
    if quick || has("evening") {
        pass_evening(if quick { 20 } else { 200 }, &length);
    }
}

/// Tables of each number that listen, then talk; goals are about `read_at` of them.
fn listen_and_talk(numbers: &[u32], read_at: u32, length: &[String]) {
    let mut lines = in_own_process(read_at, "source", length);
    for hearing in ["service", "vad"] {
        for tables in numbers {
            lines.extend(in_own_process(*tables, hearing, length));
        }
    }
    println!("{}", goals(&lines, read_at));
}

/// An evening of so many tables. A turn without its answer fails it once all is printed.
fn pass_evening(tables: u32, length: &[String]) {
    let mut lines = in_own_process(tables, "source", length);
    lines.extend(in_own_process(tables, "evening", length));
    println!("{}", evening::goals(&lines));
    for line in lines.iter().filter(|line| line["case"] == "evening") {
        assert_eq!(line["turns_lost"], 0, "turns were lost");
        assert!(line["unwritten"].is_null(), "not written down: {}", line["unwritten"]);
    }
}

impl Case {
    /// A case and how long it runs.
    fn new(tables: u32, vad: bool, quick: bool) -> Self {
        let ms = |full, short| Duration::from_millis(if quick { short } else { full });
        Self {
            tables,
            vad,
            settle: ms(2_000, 200),
            listen: ms(10_000, 500),
            talk: ms(24_000, 1_000),
            every: ms(6_000, 1_000),
        }
    }

    /// `doing` and with what.
    fn line(self, doing: &str) -> Value {
        let vad = if self.vad { "_vad" } else { "" };
        json!({ "case": format!("{doing}{vad}"), "tables": self.tables })
    }
}

/// Services of a table, which ends utterances itself unless its recogniser does.
fn services(recogniser_ends: bool) -> Services {
    Services {
        recogniser: Recogniser { ends_utterances: recogniser_ends, partial: None },
        model: Model { token: TOKEN, calls: 0 },
        synthesiser: Synthesiser::new(Duration::from_millis(100)),
        tool: nothing(),
    }
}

/// Runs this program again for one case, with `length` as its arguments; its lines, printed.
fn in_own_process(tables: u32, doing: &str, length: &[String]) -> Vec<Value> {
    let mut command = Command::new(env::current_exe().expect("a program"));
    command.args(["--one", &tables.to_string(), doing]).args(length).stdout(Stdio::piped());
    let mut running = command.spawn().expect("the same program again");
    let (floor, mut clocks) = (Floor::new(), Vec::new());
    while running.try_wait().expect("a child").is_none() {
        clocks.extend(floor.measure(CLOCKS, TOKEN));
    }
    let output = running.wait_with_output().expect("a child");
    assert!(output.status.success(), "{tables} tables ({doing}) failed");
    let (text, clocks) = (String::from_utf8(output.stdout).expect("JSON"), Figures::new(clocks));
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if line["overhead_p50_ms"].is_number() {
            add_floor(&mut line, &clocks);
        }
        println!("{line}");
        line
    };
    text.lines().map(line).collect()
}

/// Players without listeners.
fn source(case: Case) {
    let runtime = runtime();
    runtime.block_on(async {
        (0..case.tables).for_each(|nth| open_unheard(phase(nth, case.tables)));
        sleep(case.settle).await;
    });
    let (before, began) = (cpu(), Instant::now());
    runtime.block_on(async { sleep(case.listen).await });
    let mut line = case.line("source");
    line["cpu_s_per_session_minute"] = per_session_minute(case, before, began);
    println!("{line}");
}

/// Listens, then talks, and prints a line for each.
fn one(case: Case) {
    let runtime = runtime();
    let (rooms, one_table) = runtime.block_on(open(case));
    let (before, began) = (cpu(), Instant::now());
    runtime.block_on(async { sleep(case.listen).await });
    print_listening(case, (before, began), one_table);
    let (before, began) = (cpu(), Instant::now());
    let totals = runtime.block_on(talk(case, rooms));
    let spent = per_session_minute(case, before, began);
    let resident = resident_mb("self");
    let mut line = case.line("talking");
    let totals = Figures::new(totals);
    line["n"] = totals.n().into();
    line["cpu_s_per_session_minute"] = spent;
    line["rss_per_session_mb"] = per_further_table(case, resident, one_table);
    let patience = if case.vad { ms(PATIENCE) } else { 0.0 };
    let expected = ms(TOKEN * TOKENS_BEFORE_SENTENCE) + patience;
    totals.less(expected).add_to(&mut line, "overhead_");
    println!("{line}");
}

/// Opens one table, then the others, each with its frames at its own moment within 20 ms; memory
/// with the first alone.
async fn open(case: Case) -> (Vec<Room>, f64) {
    let mut rooms = vec![Room::open(services(!case.vad), Duration::ZERO).await];
    sleep(case.settle).await;
    let one_table = resident_mb("self");
    for nth in 1..case.tables {
        rooms.push(Room::open(services(!case.vad), phase(nth, case.tables)).await);
    }
    sleep(case.settle).await;
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

/// Every table has its turns, evenly spread; all totals in ms.
async fn talk(case: Case, rooms: Vec<Room>) -> Vec<f64> {
    let said: Arc<[Frame]> = utterance().into();
    let start = Instant::now();
    let talking: Vec<_> = (0_u32..)
        .zip(rooms)
        .map(|(nth, mut room)| {
            let said = Arc::clone(&said);
            tokio::spawn(async move {
                let mut totals = Vec::new();
                let mut due = case.every * nth / case.tables;
                while due < case.talk {
                    tokio::time::sleep_until((start + due).into()).await;
                    totals.push(ms(room.turn(said.to_vec()).await));
                    due += case.every;
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
    rounded(cpu().saturating_sub(before).as_secs_f64() / minutes / f64::from(case.tables))
}

/// Memory of each table after the first; `null` for one alone.
fn per_further_table(case: Case, resident: f64, one_table: f64) -> Value {
    rounded((resident - one_table) / f64::from(case.tables - 1))
}

/// Verdicts on the goals with `tables` tables.
fn goals(lines: &[Value], tables: u32) -> Value {
    let line =
        |case: &str| lines.iter().find(|line| line["case"] == case && line["tables"] == tables);
    let figure = |case: &str, name: &str| {
        line(case).and_then(|line| line[name].as_f64()).unwrap_or(f64::NAN)
    };
    let talking = line("talking").cloned().unwrap_or_default();
    let cpu = |case: &str| figure(case, "cpu_s_per_session_minute");
    json!({
        "tables": tables,
        "goals": [
            turns_goal("turn while all talk, p50 <= 2 ms, p99 <= 5 ms", &talking, (2.0, 5.0)),
            goal("CPU-s of a listening minute", cpu("listening"), 0.05),
            goal("the same without the bench's own", cpu("listening") - cpu("source"), 0.05),
            goal("CPU-s of a listening minute with VAD", cpu("listening_vad"), 0.15),
            goal("MB of a further table", figure("listening", "rss_per_session_mb"), 0.1),
            goal("MB of a further table with VAD", figure("listening_vad", "rss_per_session_mb"), 0.2),
        ],
    })
}

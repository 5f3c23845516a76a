//! Turns: from handing the last speech frame in to the first audio frame out, services answering
//! at once. One JSON line per case, then one that says which goals hold.
//!
//! `turn` and `turn_20ms` (20 ms a token), and `tool`, where the model first calls a tool that
//! does nothing. `counted`: turns of four tables that take turns, of which two have their figures
//! counted. `costs`: a span that is not collected, and figures written with every label full.
//! `--quick` has nine turns in all; names of cases choose them.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing turns is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use glyphoxa::measure::{Figures as Served, Operation, ToolCallFigure, Trace};
use serde_json::{Value, json};
use support::{
    figures::{
        Figures, Floor, TOKEN, TOKENS_BEFORE_SENTENCE, goal, ms, rounded, runtime, turns_goal,
        turns_line,
    },
    sound::utterance,
    stand_ins::{Model, Recogniser, Synthesiser},
    table::{self, QUIET, Room, Services},
};

/// Turns before the first that counts; none with `--quick`.
const WARM_UP: usize = 3;
/// Token clocks run beside each turn, in its silence.
const CLOCKS: usize = 2;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, names): (Vec<_>, Vec<_>) = arguments.iter().partition(|it| it.starts_with('-'));
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|it| *it == name);
    let quick = flags.iter().any(|it| *it == "--quick");
    let (n, warm_up) = if quick { (2, 0) } else { (200, WARM_UP) };
    let mut goals = Vec::new();
    if is_wanted("turn") {
        let turn = case("turn", (n, warm_up), TOKEN, 0);
        goals.push(turns_goal("turn, p50 <= 2 ms, p99 <= 5 ms", &turn, (2.0, 5.0)));
    }
    if is_wanted("turn_20ms") {
        case("turn_20ms", (n / 2, warm_up), TOKEN * 4, 0);
    }
    if is_wanted("tool") {
        let tool = case("tool", (n, warm_up), TOKEN, 1);
        goals.push(turns_goal("tool, p50 <= 3 ms, p99 <= 7 ms", &tool, (3.0, 7.0)));
    }
    if is_wanted("counted") {
        goals.push(goal("counting figures, ms added at p50", counted(n / 4 + 1), 0.1));
    }
    if is_wanted("costs") {
        goals.push(goal("a span without a collector, us", untraced(), 1.0));
        goals.push(goal("figures with every label full, ms", rendered(), 20.0));
    }
    println!("{}", json!({ "goals": goals }));
}

/// Time that counting a table's figures adds to its turns, at p50, in ms: of `n` turns at each of
/// four tables that take turns. Prints how far equal tables are apart, the noise.
fn counted(n: usize) -> f64 {
    let runtime = runtime();
    let figures = Served::default();
    let mut rooms = [None, Some(figures.clone()), None, Some(figures.clone())].map(|figures| {
        let services = services(TOKEN, 0);
        (runtime.block_on(Room::open_read(services, figures)), Vec::new())
    });
    let utterance = utterance();
    for _ in 0..n {
        for (room, totals) in &mut rooms {
            totals.push(ms(runtime.block_on(room.turn(utterance.clone()))));
            runtime.block_on(async { tokio::time::sleep(QUIET).await });
        }
    }
    let text = figures.render();
    assert!(text.contains("glyphoxa_turns_total"), "nothing was counted: {text}");
    let [bare, counted, bare_again, counted_again] =
        rooms.map(|(_, totals)| Figures::new(totals).at(50));
    println!(
        "{}",
        json!({
            "case": "counted",
            "n": n,
            "p50_ms": [rounded(counted), rounded(counted_again)],
            "bare_p50_ms": [rounded(bare), rounded(bare_again)],
        })
    );
    (counted + counted_again - bare - bare_again) / 2.0
}

/// Cost of a request's span where nothing is traced, in µs.
fn untraced() -> f64 {
    let (trace, n) = (Trace::default(), 1_000_000);
    let started = Instant::now();
    for nth in 0..n {
        let span = black_box(&trace).begin(Operation::Chat, || format!("model {nth}"));
        span.reached("first");
        span.set("tokens", 1_u64);
        black_box(span).end();
    }
    ms(started.elapsed()) * 1e3 / f64::from(n)
}

/// Time of writing the figures when every label has as many values as it may, the worst of 200
/// tables, in ms.
fn rendered() -> f64 {
    let (figures, n) = (Served::default(), 20);
    for nth in 0..300 {
        let tool = format!("{nth:03}{}", "x".repeat(100));
        for tier in ["fast", "standard", "deep", "none"] {
            for outcome in ["ok", "failed", "pending"] {
                let took = Some(Duration::from_millis(300));
                figures.tool_call(ToolCallFigure { tool: &tool, tier, outcome, took });
            }
        }
        figures.spent(&tool, "npc", 1);
    }
    let started = Instant::now();
    for _ in 0..n {
        black_box(black_box(&figures).render());
    }
    ms(started.elapsed()) / f64::from(n)
}

fn services(token: Duration, calls: usize) -> Services {
    Services {
        recogniser: Recogniser { ends_utterances: true, partial: None },
        model: Model { token, calls },
        synthesiser: Synthesiser::new(Duration::from_millis(100)),
        tool: table::nothing(),
    }
}

/// Runs one case, `n` turns after `warm_up` others; its line, printed.
fn case(name: &str, (n, warm_up): (usize, usize), token: Duration, calls: usize) -> Value {
    let (runtime, empty) = (runtime(), Floor::new());
    let mut room = runtime.block_on(Room::open(services(token, calls), Duration::ZERO));
    let (utterance, mut totals, mut floor) = (utterance(), Vec::new(), Vec::new());
    for nth in 0..n + warm_up {
        let total = runtime.block_on(room.turn(utterance.clone()));
        let clocks = empty.measure(CLOCKS, token);
        if nth >= warm_up {
            totals.push(ms(total));
            floor.extend(clocks);
        }
        runtime.block_on(async { tokio::time::sleep(QUIET).await });
    }
    let (totals, floor) = (Figures::new(totals), Figures::new(floor));
    let before = ms(token * TOKENS_BEFORE_SENTENCE);
    let line = turns_line(name, &totals, before, &floor);
    println!("{line}");
    line
}

//! Tier selection: microseconds an utterance, one JSON line per case.
//!
//! The shipped English and German keywords, a thousand rule names and a thousand absent entities;
//! no case ends early by an early match unless its name says so. `--quick` has 500 utterances of each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use glyphoxa::measure::{AbsentName, Keywords, Names, TierInput, TierSelector};

/// Runs of a case.
const RUNS: usize = 50_000;
/// Sixty words of table talk without a keyword.
const SIXTY: &str = "well I think we should all go down to the old mill before it gets dark, \
    because the farmer said that his sheep were taken there, and I do not trust him, but he has \
    no reason to lie to us, so I draw my sword and walk slowly along the river with a torch in my \
    left hand while the others wait";

fn main() {
    let selector = TierSelector::new(&Keywords::shipped(["en", "de"]));
    let rules: Vec<String> = (0..1_000).map(|n| format!("well spell number {n}")).collect();
    let absent: Vec<String> = (0..1_000).map(|n| format!("Village{n} by the river")).collect();
    let names = Names::new(
        rules.iter().map(String::as_str),
        absent.iter().map(|name| AbsentName { entity: name, name }),
    );
    let accents = SIXTY.replace('e', "é");
    let late = format!("{SIXTY} and search the web");
    for (case, text) in [
        ("5 words", "I draw my old sword"),
        ("60 words", SIXTY),
        ("60 words, deep keyword last", late.as_str()),
        ("60 words, accents", accents.as_str()),
    ] {
        measure(case, &selector, text, &names);
    }
}

/// Times a case run by run and prints the middle and the slow end.
fn measure(case: &str, selector: &TierSelector, text: &str, names: &Names) {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let n = if quick { 500 } else { RUNS };
    let mut micros: Vec<f64> = (0..n)
        .map(|_| {
            let input = TierInput {
                text: black_box(text),
                queue_depth: 0,
                first_turn: false,
                recent_turns: 0,
                has_pictures: false,
                since_deep: None,
                names,
                here: Some("Ravenford"),
            };
            let start = Instant::now();
            black_box(selector.select(&input));
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    let (p50, p99) = (micros[n / 2], micros[n * 99 / 100]);
    println!(r#"{{"bench":"tier","case":"{case}","n":{n},"p50_us":{p50:.2},"p99_us":{p99:.2}}}"#);
}

//! Sentence splitting: microseconds a token, and tokens a finished sentence waits, one JSON line
//! per case.
//!
//! Deltas are cut as models cut them: a word with the space before it, punctuation by itself.
//! `--quick` splits ten replies of each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::time::Instant;

use glyphoxa::measure::{SentenceOptions, SentenceSplitter};

/// Replies split in a case.
const RUNS: usize = 2_000;
/// Clear punctuation only.
const CLEAR: &str = "Well met, traveller! The stew is hot today. What brings you to the tankard? \
    Sit down by the fire and rest your feet. Nobody will trouble you here.";
/// Abbreviations, numbers, ellipses, quotes.
const HELD: &str = "Dr. Smith owes me 3.5 gold, e.g. for ale... \"Pay me!\" I said. He left 12. Then \
    J. Jones came by at 5 p.m. and paid. *He sighs.* Ask St. Mary if you like.";

fn main() {
    measure("clear", CLEAR);
    measure("held", HELD);
    measure("clear x 40", &format!("{CLEAR} ").repeat(40));
}

/// Times each token's push and prints the middle and the slow end.
fn measure(case: &str, text: &str) {
    let tokens = tokens(text);
    let quick = std::env::args().any(|argument| argument == "--quick");
    let runs = if quick { 10 } else { RUNS };
    let mut micros = Vec::with_capacity(runs * tokens.len());
    let (mut sentences, mut late) = (0_usize, 0_usize);
    for _ in 0..runs.min(200_000 / tokens.len()) {
        let mut splitter = SentenceSplitter::new(&SentenceOptions::default());
        for token in &tokens {
            let start = Instant::now();
            let found = black_box(splitter.push(black_box(token)));
            micros.push(start.elapsed().as_secs_f64() * 1e6);
            sentences += found.len();
            // A sentence that leaves with a token of the next one waited for it.
            late += usize::from(!found.is_empty() && token.contains(char::is_alphanumeric));
        }
        sentences += usize::from(splitter.finish().is_some());
    }
    micros.sort_by(f64::total_cmp);
    let n = micros.len();
    let (p50, p99) = (micros[n / 2], micros[n * 99 / 100]);
    println!(
        r#"{{"bench":"sentence","case":"{case}","n":{n},"p50_us":{p50:.2},"p99_us":{p99:.2},"sentences":{sentences},"waited":{late}}}"#
    );
}

/// Words with the space before them, punctuation by itself.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let space = c.is_whitespace() && !last.is_whitespace();
        let mark = !c.is_alphanumeric() && !c.is_whitespace() && last.is_alphanumeric();
        if at > 0 && (space || mark) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = c;
    }
    tokens.push(&text[start..]);
    tokens
}

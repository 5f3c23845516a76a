//! Dice: microseconds for reading and rolling, one JSON line per case.
//!
//! `parse` and `roll` apart and together for a usual roll, and the most work a text may ask for.
//! `--quick` runs a fiftieth of each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of wrong rolls is none")]

use std::hint::black_box;
use std::time::Instant;

use glyphoxa::measure::dice;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// A usual roll.
const USUAL: &str = "4d6kh3+2";
/// Runs of a usual case.
const RUNS: usize = 20_000;

fn main() {
    let mut rng = StdRng::seed_from_u64(1);
    let parsed = dice::parse(USUAL).expect("the usual roll is right");
    measure("parse", RUNS, || dice::parse(black_box(USUAL)).is_ok());
    measure("roll", RUNS, || parsed.roll(&mut rng).is_ok());
    measure("parse+roll", RUNS, || {
        dice::parse(black_box(USUAL)).is_ok_and(|e| e.roll(&mut rng).is_ok())
    });
    let many = dice::parse("700d6e6").expect("the large roll is right");
    measure("roll 700d6e6", 200, || many.roll(&mut rng).is_ok());
    // One die a round, everything sorted and compared each round, until the dice are used up.
    let all: String = (2..65).map(|face| format!("rr{face}")).collect();
    let bomb = format!("500d1000000rrh1rrl1{all}");
    measure("bomb", 50, || dice::parse(&bomb).is_ok_and(|e| e.roll(&mut rng).is_err()));
    // Likewise with explosions: one more die a round, all faces asked for.
    let faces: String = (1..65).map(|face| format!("e{face}")).collect();
    let growing = format!("1d1000000{faces}e<1000000");
    measure("growing", 50, || dice::parse(&growing).is_ok_and(|e| e.roll(&mut rng).is_err()));
    let chained = format!("900d6{}+200d6", "kh500pl3".repeat(60));
    measure("chained", 50, || dice::parse(&chained).is_ok_and(|e| e.roll(&mut rng).is_err()));
    let endless = "1000d6e<7";
    measure("endless", 200, || dice::parse(endless).is_ok_and(|e| e.roll(&mut rng).is_err()));
    let wrong = "4d6kk3";
    measure("mistake", RUNS, || dice::parse(black_box(wrong)).is_err());
}

/// Times `op` run by run and prints the middle and the slow end.
fn measure(case: &str, n: usize, mut op: impl FnMut() -> bool) {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let n = if quick { n / 50 } else { n };
    let mut micros: Vec<f64> = (0..n)
        .map(|_| {
            let start = Instant::now();
            assert!(black_box(op()), "{case} did what it should not");
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    let (p50, p99) = (micros[n / 2], micros[n * 99 / 100]);
    println!(r#"{{"bench":"dice","case":"{case}","n":{n},"p50_us":{p50:.2},"p99_us":{p99:.2}}}"#);
}

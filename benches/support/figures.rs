//! Percentiles, the floor they are read against, and whether goals hold.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Token intervals until the first sentence is complete: it has six tokens, the first at once.
pub const TOKENS_BEFORE_SENTENCE: u32 = 5;
/// Time between two tokens.
pub const TOKEN: Duration = Duration::from_millis(5);

/// Times of one case, in ms, sorted.
#[derive(Clone)]
pub struct Figures(Vec<f64>);

impl Figures {
    /// Times, in any order.
    pub fn new(times: impl IntoIterator<Item = f64>) -> Self {
        let mut times: Vec<f64> = times.into_iter().collect();
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// Number of times.
    pub fn n(&self) -> usize {
        self.0.len()
    }

    /// The time that `percent` of all are not longer than, nearest rank; NaN without times.
    pub fn at(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    /// These times, each shorter by `ms`.
    pub fn less(&self, ms: f64) -> Self {
        Self(self.0.iter().map(|time| time - ms).collect())
    }

    /// `case`, `n` and the three percentiles.
    pub fn line(&self, case: &str) -> Value {
        let mut line = json!({ "case": case, "n": self.n() });
        self.add_to(&mut line, "");
        line
    }

    /// Adds the three percentiles to a line, their names beginning with `prefix`.
    pub fn add_to(&self, line: &mut Value, prefix: &str) {
        for percent in [50, 95, 99] {
            line[format!("{prefix}p{percent}_ms")] = rounded(self.at(percent));
        }
    }
}

/// Three decimals; `null` for what is no number.
pub fn rounded(value: f64) -> Value {
    if value.is_finite() { ((value * 1e3).round() / 1e3).into() } else { Value::Null }
}

/// A duration in ms.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Totals of turns as a line: percentiles, overhead over `sentence_ms`, and the floor.
pub fn turns_line(case: &str, totals: &Figures, sentence_ms: f64, floor: &Figures) -> Value {
    let mut line = totals.line(case);
    totals.less(sentence_ms).add_to(&mut line, "overhead_");
    add_floor(&mut line, floor);
    line
}

/// Adds the floor to a line.
pub fn add_floor(line: &mut Value, floor: &Figures) {
    line["bare_loop_floor_ms"] = rounded(floor.at(50));
    line["bare_loop_floor_p99_ms"] = rounded(floor.at(99));
}

/// Verdict on the overhead of turns at [`TOKEN`], at p50 and p99: absolutely, or relative to the
/// floor, each percentile to its own (p50 1 ms and p99 3 ms above it).
pub fn turns_goal(what: &str, line: &Value, (p50, p99): (f64, f64)) -> Value {
    let figure = |name: &str| line[name].as_f64().unwrap_or(f64::NAN);
    let (at_p50, at_p99) = (figure("overhead_p50_ms"), figure("overhead_p99_ms"));
    let sentence = ms(TOKEN * TOKENS_BEFORE_SENTENCE);
    let floor = figure("bare_loop_floor_ms") - sentence;
    let floor_p99 = figure("bare_loop_floor_p99_ms") - sentence;
    json!({
        "goal": what,
        "absolute": at_p50 <= p50 && at_p99 <= p99,
        "relative": at_p50 <= floor + 1.0 && at_p99 <= floor_p99 + 3.0,
    })
}

/// Verdict on `value` against the goal `at_most`.
pub fn goal(what: &str, value: f64, at_most: f64) -> Value {
    json!({ "goal": what, "absolute": value <= at_most, "value": rounded(value), "at_most": at_most })
}

/// A runtime with nothing on it but the token clock.
pub struct Floor(tokio::runtime::Runtime);

impl Floor {
    /// An empty runtime like the program's.
    pub fn new() -> Self {
        Self(runtime())
    }

    /// Times from a timer's wake until the sixth token, `n` of them.
    pub fn measure(&self, n: usize, token: Duration) -> Vec<f64> {
        let one = || async move {
            // Like the player's audio, the clock starts when a timer fires.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let start = Instant::now();
            for nth in 0..=TOKENS_BEFORE_SENTENCE {
                tokio::time::sleep_until((start + token * nth).into()).await;
            }
            ms(start.elapsed())
        };
        (0..n).filter_map(|_| self.0.block_on(async { tokio::spawn(one()).await.ok() })).collect()
    }
}

/// A runtime as the program has it.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

//! Silence of tables: how long none of a table's processes sent sound.
//!
//! Entry functions: [`longest`], [`Figures::of`].

use std::time::Duration;

use discord_loopback::Sound;
use serde_json::{Value, json};
use tokio::time::Instant;

/// Longest silence of a table that ended after `since`; `sound` is in the order of its beginnings.
pub fn longest(sound: &[Sound], since: Instant) -> Duration {
    let (mut until, mut longest) = (None, Duration::ZERO);
    for it in sound {
        if let Some(until) = until.filter(|_| it.first > since) {
            longest = longest.max(it.first.saturating_duration_since(until));
        }
        until = until.max(Some(it.last));
    }
    longest
}

/// Median and worst, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub p50: f64,
    pub worst: f64,
}

impl Figures {
    /// Zeros of none.
    pub fn of(silences: impl IntoIterator<Item = Duration>) -> Self {
        let mut all: Vec<Duration> = silences.into_iter().collect();
        all.sort();
        let seconds = |at: usize| all.get(at).map_or(0.0, Duration::as_secs_f64);
        Self { p50: seconds(all.len() / 2), worst: seconds(all.len().saturating_sub(1)) }
    }

    pub fn json(self) -> Value {
        json!({ "p50": self.p50, "worst": self.worst })
    }
}

#[test]
fn longest_silence_of_a_table_is_found() {
    let start = Instant::now();
    let at = |ms: u64| start + Duration::from_millis(ms);
    let sound = |source, first: u64, last: u64| {
        let (first, last) = (at(first), at(last));
        Sound { source, first, last, frames: 1 }
    };
    // The second begins in the first, and the third long before what is asked about.
    let all = [
        sound(1, 0, 1_000),
        sound(2, 500, 700),
        sound(3, 4_000, 5_000),
        sound(4, 6_000, 7_000),
        sound(5, 7_100, 7_200),
    ];
    assert_eq!(longest(&all, at(0)), Duration::from_secs(3));
    assert_eq!(longest(&all, at(4_500)), Duration::from_secs(1));
    assert_eq!(longest(&all, at(7_200)), Duration::ZERO);
    let figures = Figures::of([3, 1, 2].map(Duration::from_secs));
    assert_eq!((figures.p50, figures.worst), (2.0, 3.0));
    assert_eq!(Figures::of([]).worst, 0.0);
}

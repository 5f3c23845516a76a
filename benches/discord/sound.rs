//! What players say: 48 kHz mono.

use std::f64::consts::TAU;

use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::support::sound;

/// Samples a second.
const RATE: f64 = 48_000.0;

/// `frames` of 20 ms of a voice-like buzz, loud to its end.
pub fn babble(frames: usize) -> Vec<i16> {
    let samples: Vec<i16> = sound::babble(frames).iter().flat_map(|it| it.to_vec()).collect();
    let next = |index: usize| samples.get(index + 1).copied().unwrap_or(0);
    let between = |(index, sample): (usize, &i16)| {
        let (from, to) = (i32::from(*sample), i32::from(next(index)));
        [0, 1, 2].map(|step| i16::try_from(from + (to - from) * step / 3).expect("between"))
    };
    samples.iter().enumerate().flat_map(between).collect()
}

/// Shaped like laughter: 1.2 s of noise in five bursts a second.
pub fn laughter() -> Vec<i16> {
    let mut rng = StdRng::seed_from_u64(5);
    let mut breath = 0.0;
    let sample = |index: u32| {
        let time = f64::from(index) / RATE;
        // Noise through a low pass, as breath through a mouth.
        breath += 0.15 * (rng.random_range(-1.0..1.0) - breath);
        let burst = (TAU * 5.0 * time).sin().max(0.0);
        loud(breath * burst * 40_000.0)
    };
    (0..57_600).map(sample).collect()
}

/// The nearest sample.
#[expect(clippy::cast_possible_truncation, reason = "clamped")]
fn loud(value: f64) -> i16 {
    value.clamp(-30_000.0, 30_000.0) as i16
}

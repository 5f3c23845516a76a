//! Sounds like laughter, without words.
//!
//! Entry function: [`laughter`]. **Never**: two takes that differ.

use std::f64::consts::TAU;

use rand::{Rng, SeedableRng, rngs::StdRng};

/// Samples a second.
const RATE: f64 = 48_000.0;
/// Samples in all: 1.2 s.
const SAMPLES: u32 = 57_600;
/// Bursts a second.
const BURSTS: f64 = 5.0;

/// Noise in the shape of laughter, 48 kHz mono: 1.2 s of breath in five bursts a second, always the
/// same. For bots that must not take it for an interruption.
pub fn laughter() -> Vec<i16> {
    let mut rng = StdRng::seed_from_u64(5);
    let mut breath = 0.0;
    let sample = |index: u32| {
        let time = f64::from(index) / RATE;
        // Noise through a low pass, as breath through a mouth.
        breath += 0.15 * (rng.random_range(-1.0..1.0) - breath);
        let burst = (TAU * BURSTS * time).sin().max(0.0);
        loud(breath * burst * 40_000.0)
    };
    (0..SAMPLES).map(sample).collect()
}

/// The nearest sample.
#[expect(clippy::cast_possible_truncation, reason = "clamped")]
fn loud(value: f64) -> i16 {
    value.clamp(-30_000.0, 30_000.0) as i16
}

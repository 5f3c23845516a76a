//! Sounds without speech.

use std::f32::consts::TAU;

use crate::wav::RATE;

/// Name and sound, three seconds each.
pub fn all() -> Vec<(&'static str, Vec<f32>)> {
    let mut seed = 1u32;
    let mut random = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let count = 3 * RATE;
    let tone = |hertz: f32, i: usize| (TAU * hertz * i as f32 / RATE as f32).sin();
    let noise: Vec<f32> = (0..count).map(|_| 0.1 * random()).collect();
    let mut low = 0.0;
    let rumble = noise.iter().map(|x| {
        low += 0.02 * (x - low);
        10.0 * low
    });
    // a burst of noise that dies away within 20 ms
    let fades = |i: usize, every: usize| (-((i % every) as f32) / 80.0).exp();
    let hum = |i: usize| 0.05 * (tone(50.0, i) + 0.5 * tone(100.0, i) + 0.3 * tone(150.0, i));
    let chord = |i: usize| 0.1 * (tone(261.6, i) + tone(329.6, i) + tone(392.0, i));
    let melody = |i: usize| 0.2 * tone([262.0, 294.0, 330.0, 349.0, 392.0, 440.0][i / 8000], i);
    let breath = |i: usize, x: &f32| x * 0.5 * (TAU * i as f32 / RATE as f32 / 1.5).sin().max(0.0);
    vec![
        ("digital silence", vec![0.0; count]),
        ("faint noise", noise.iter().map(|x| x / 100.0).collect()),
        ("white noise", noise.clone()),
        ("rumble", rumble.collect()),
        ("mains hum", (0..count).map(hum).collect()),
        ("chord", (0..count).map(chord).collect()),
        ("melody", (0..count).map(melody).collect()),
        ("one click", (0..count).map(|i| 5.0 * noise[i] * fades(i + 8000, count)).collect()),
        ("clicks, 4 a second", (0..count).map(|i| 5.0 * noise[i] * fades(i, 4000)).collect()),
        ("keys, 10 a second", (0..count).map(|i| 2.0 * noise[i] * fades(i, 1600)).collect()),
        ("breath", noise.iter().enumerate().map(|(i, x)| breath(i, x)).collect()),
        ("cough", (0..count).map(|i| 8.0 * noise[i] * (-(i as f32) / 2500.0).exp()).collect()),
    ]
}

/// The sound with white noise that many decibels below it.
pub fn noisy(samples: &[f32], decibels: f32) -> Vec<f32> {
    let power = samples.iter().map(|x| x * x).sum::<f32>() / samples.len().max(1) as f32;
    // uniform noise between -a and a has a power of a^2 / 3
    let size = (3.0 * power / 10f32.powf(decibels / 10.0)).sqrt();
    let mut seed = 7u32;
    let random = samples.iter().map(|x| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x + size * ((seed >> 8) as f32 / (1 << 23) as f32 - 1.0)
    });
    random.collect()
}

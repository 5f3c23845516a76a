//! Voice activity: time of one 20 ms frame and CPU-seconds of a listening minute.
//!
//! Prints one JSON line for each kind of sound. All audio comes in 20 ms frames of 16 kHz
//! mono; each kind is pushed as `MINUTES` minutes of it without waiting, with `--quick` as one.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::cast_possible_truncation, reason = "samples are clamped, shares below 1")]
#![expect(clippy::cast_sign_loss, reason = "an index from a share of a length")]

use std::f64::consts::PI;
use std::hint::black_box;
use std::time::{Duration, Instant};

use glyphoxa::measure::{Vad, VadOptions};

/// Samples of one second.
const RATE: f64 = 16_000.0;
/// Seconds of one syllable.
const SYLLABLE: f64 = 0.16;
/// Samples of one frame.
const FRAME: usize = 320;
/// Frames of one minute.
const FRAMES_PER_MINUTE: usize = 3_000;
/// Minutes pushed for each kind.
const MINUTES: usize = 5;

fn main() {
    for (kind, loud) in [("silence", 0), ("table_talk", 40), ("speech", 100)] {
        println!("{}", measure(kind, loud));
    }
}

/// One minute of sound: faint hiss, and in `loud` percent of its seconds syllables of a voice-like
/// buzz through three moving resonances.
fn minute(loud: usize) -> Vec<i16> {
    let mut noise = 0x2545_f491_4f6c_dd1d_u64;
    let (mut phase, mut states) = (0.0_f64, [[0.0_f64; 2]; 3]);
    let sample = |index: usize| {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        let bits = u32::try_from(noise >> 40).unwrap_or_default();
        let hiss = f64::from(bits) / f64::from(1 << 24) - 0.5;
        let time = index as f64 / RATE;
        phase += (120.0 + 20.0 * (time * 4.0).sin()) / RATE;
        let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
        phase = phase.fract();
        let vowel = (time / SYLLABLE).floor();
        let formants =
            [500.0 + 250.0 * (vowel * 1.7).sin(), 1_500.0 + 600.0 * (vowel * 2.9).cos(), 2_500.0];
        let mut voice = 0.0;
        for (formant, [newer, older]) in formants.into_iter().zip(&mut states) {
            let keep = (-PI * 80.0 / RATE).exp();
            let out = pulse + 2.0 * keep * (2.0 * PI * formant / RATE).cos() * *newer
                - keep * keep * *older;
            (*older, *newer) = (*newer, out);
            voice += out;
        }
        let speaks = index / FRAME / 50 * 37 % 100 < loud;
        let level =
            if speaks { 2_000.0 * (PI * (time / SYLLABLE).fract()).sin().sqrt() } else { 0.0 };
        let faint = if loud == 0 { 0.0 } else { 10.0 * hiss };
        (voice * level + faint).clamp(-30_000.0, 30_000.0) as i16
    };
    (0..FRAME * FRAMES_PER_MINUTE).map(sample).collect()
}

/// CPU time of this thread so far, the kernel's count; `None` where it keeps none.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Pushes minutes of one kind of sound and sums up.
fn measure(kind: &str, loud: usize) -> serde_json::Value {
    let sound = minute(loud);
    let mut vad = Vad::new(VadOptions::default());
    let quick = std::env::args().any(|argument| argument == "--quick");
    let minutes = if quick { 1 } else { MINUTES };
    let mut times = Vec::with_capacity(minutes * FRAMES_PER_MINUTE);
    let mut voiced = 0_usize;
    let before = cpu_time();
    for _ in 0..minutes {
        for frame in sound.chunks_exact(FRAME) {
            let start = Instant::now();
            let voicing = vad.push(black_box(frame));
            times.push(start.elapsed());
            voiced += usize::from(voicing.voiced);
        }
    }
    let wall: Duration = times.iter().sum();
    let cpu = before.zip(cpu_time()).map_or(wall, |(before, after)| after.saturating_sub(before));
    times.sort_unstable();
    let micros = |share: f64| {
        let at = ((times.len() - 1) as f64 * share) as usize;
        times.get(at).map_or(0.0, |time| (time.as_secs_f64() * 1e7).round() / 10.0)
    };
    serde_json::json!({
        "bench": "vad",
        "sound": kind,
        "frames": times.len(),
        "voiced_share": (voiced as f64 / times.len() as f64 * 100.0).round() / 100.0,
        "frame_us": { "p50": micros(0.5), "p99": micros(0.99), "max": micros(1.0) },
        "cpu_s_per_session_minute": (cpu.as_secs_f64() / minutes as f64 * 1e4).round() / 1e4,
    })
}

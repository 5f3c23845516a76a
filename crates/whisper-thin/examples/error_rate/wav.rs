//! WAV files of 16 bit, mono, as f32 at 16 kHz.

use std::error::Error;
use std::path::Path;

/// Whisper's sample rate.
pub const RATE: usize = 16_000;

/// Reads a file; other rates are resampled after a simple low pass, good enough for measuring.
pub fn read(path: &Path) -> Result<Vec<f32>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {path:?}: {error}"))?;
    let wanted = || format!("{path:?} is no WAV file of 16 bit and one channel");
    let (mut at, mut rate) = (12, None);
    while let Some(head) = bytes.get(at..at + 8) {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let body = &bytes[at + 8..bytes.len().min((at + 8).saturating_add(length))];
        match &head[..4] {
            b"fmt " if body.get(2..4) == Some(&[1, 0]) && body.get(14..16) == Some(&[16, 0]) => {
                rate = Some(u32::from_le_bytes([body[4], body[5], body[6], body[7]]));
            }
            b"data" => {
                let samples =
                    body.as_chunks::<2>().0.iter().map(|s| f32::from(i16::from_le_bytes(*s)));
                let samples: Vec<f32> = samples.map(|s| s / 32768.0).collect();
                return rate
                    .map(|rate| at_16_khz(&samples, rate as usize))
                    .ok_or_else(|| wanted().into());
            }
            _ => {}
        }
        at = (at + 8).saturating_add(length + length % 2);
    }
    Err(wanted().into())
}

/// Averages the samples up to the next one, or interpolates if the rate was lower.
fn at_16_khz(samples: &[f32], rate: usize) -> Vec<f32> {
    let mean = |i: usize| {
        let (from, to) = (i * rate / RATE, ((i + 1) * rate / RATE).min(samples.len()));
        samples[from..to].iter().sum::<f32>() / (to - from).max(1) as f32
    };
    let between = |i: usize| {
        let (at, part) = (i * rate / RATE, (i * rate % RATE) as f32 / RATE as f32);
        let next = samples.get(at + 1).copied().unwrap_or(0.0);
        samples[at] * (1.0 - part) + next * part
    };
    let count = samples.len() * RATE / rate.max(1);
    (0..count).map(|i| if rate > RATE { mean(i) } else { between(i) }).collect()
}

/// Pieces of at most `most` samples, each cut at the quietest fifth of a second of its second half.
pub fn pieces(mut samples: &[f32], most: usize) -> Vec<&[f32]> {
    let length = RATE / 5;
    let mut pieces = Vec::new();
    while samples.len() > most {
        let loudness = |at: &usize| samples[*at..at + length].iter().map(|x| x * x).sum::<f32>();
        let places = (most / 2..most - length).step_by(length / 4);
        let quietest = places.min_by(|a, b| loudness(a).total_cmp(&loudness(b)));
        let (piece, rest) = samples.split_at(quietest.map_or(most, |at| at + length / 2));
        pieces.push(piece);
        samples = rest;
    }
    pieces.push(samples);
    pieces
}

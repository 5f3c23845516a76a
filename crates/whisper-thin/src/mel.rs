//! Sound to Whisper's log-mel features: 16 kHz, windows of 25 ms every 10 ms, bands of equal width
//! in mel (Slaney's scale, as in librosa), the loudest 8 decades.
//!
//! Source: `whisper/audio.py` of openai/whisper.

use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use crate::work::{Cancelled, Stop};

/// Samples per second.
pub(crate) const RATE: usize = 16_000;
/// Samples from one frame to the next.
pub(crate) const HOP: usize = 160;
/// Samples in a frame's window.
const LENGTH: usize = 400;
/// Logarithm of the lowest power that counts.
const QUIETEST: f32 = -10.0;

/// Computes features; shared by all calls.
pub(crate) struct Frontend {
    fft: Arc<dyn Fft<f32>>,
    /// The Hann window, `LENGTH` values.
    window: Vec<f32>,
    filters: Vec<Filter>,
}

/// A band: its first spectral line and the weights from there on.
struct Filter {
    first: usize,
    weights: Vec<f32>,
}

/// Features of one call, and buffers.
#[derive(Default)]
pub(crate) struct Mel {
    /// Frames that touch the sound, one value per band.
    pub(crate) rows: Vec<f32>,
    /// Value of every band in the silence after them.
    pub(crate) silence: f32,
    buffer: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
    power: Vec<f32>,
}

/// Slaney's scale: linear up to 1 kHz (15 mel), logarithmic above.
fn hertz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4f64.ln() / 27.0).exp() }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are made in f64 and used in f32")]
fn filters(bands: usize) -> Vec<Filter> {
    let top = 15.0 + 27.0 * 8.0f64.ln() / 6.4f64.ln(); // 8 kHz
    let edge = |i: usize| hertz(top * i as f64 / (bands + 1) as f64);
    let line = |k: usize| k as f64 * RATE as f64 / LENGTH as f64;
    let filter = |band: usize| {
        let (low, middle, high) = (edge(band), edge(band + 1), edge(band + 2));
        let weight = |k: usize| {
            let rise = (line(k) - low) / (middle - low);
            let fall = (high - line(k)) / (high - middle);
            rise.min(fall).max(0.0) * 2.0 / (high - low)
        };
        let inside = |k: &usize| weight(*k) > 0.0;
        let first = (0..=LENGTH / 2).find(inside).unwrap_or(0);
        let weights = (first..=LENGTH / 2).take_while(inside).map(|k| weight(k) as f32).collect();
        Filter { first, weights }
    };
    (0..bands).map(filter).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "made in f64 and used in f32")]
fn hann() -> Vec<f32> {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / LENGTH as f64;
    (0..LENGTH).map(|i| (0.5 - 0.5 * angle(i).cos()) as f32).collect()
}

/// The sample, or silence if it is not finite. Clips far above full scale, so that its power is
/// finite.
fn usable(sample: f32) -> f32 {
    if sample.is_finite() { sample.clamp(-100.0, 100.0) } else { 0.0 }
}

impl Frontend {
    /// Prepares filters for 80 bands (most models) or 128 (the largest).
    pub(crate) fn new(bands: usize) -> Self {
        let fft = FftPlanner::new().plan_fft_forward(LENGTH);
        Self { fft, window: hann(), filters: filters(bands) }
    }

    pub(crate) fn bands(&self) -> usize {
        self.filters.len()
    }

    /// Features of every frame whose window touches the sound, at most `most`. Samples that are not
    /// finite count as silence.
    pub(crate) fn run(
        &self,
        samples: &[f32],
        most: usize,
        mel: &mut Mel,
        stop: &Stop,
    ) -> Result<(), Cancelled> {
        let frames = (samples.len() + LENGTH / 2).div_ceil(HOP).min(most);
        mel.rows.clear();
        mel.rows.resize(frames * self.bands(), 0.0);
        mel.scratch.resize(self.fft.get_inplace_scratch_len(), Complex::default());
        mel.power.resize(LENGTH / 2 + 1, 0.0);
        for (frame, row) in mel.rows.chunks_exact_mut(self.bands()).enumerate() {
            if frame % 128 == 0 {
                stop.check()?;
            }
            mel.buffer.clear();
            // the sound is mirrored at its beginning
            let at = |i: usize| (frame * HOP + i).abs_diff(LENGTH / 2);
            let sample = |i: usize| samples.get(at(i)).map_or(0.0, |&x| usable(x));
            let windowed =
                self.window.iter().enumerate().map(|(i, w)| Complex::new(sample(i) * w, 0.0));
            mel.buffer.extend(windowed);
            self.fft.process_with_scratch(&mut mel.buffer, &mut mel.scratch);
            for (power, line) in mel.power.iter_mut().zip(&mel.buffer) {
                *power = line.norm_sqr();
            }
            for (out, filter) in row.iter_mut().zip(&self.filters) {
                let lines = filter.weights.iter().zip(&mel.power[filter.first..]);
                let energy: f32 = lines.map(|(w, p)| w * p).sum();
                *out = energy.max(1e-10).log10();
            }
        }
        let floor = mel.rows.iter().fold(QUIETEST, |a, &b| a.max(b)) - 8.0;
        let scaled = |x: f32| (x.max(floor) + 4.0) / 4.0;
        mel.rows.iter_mut().for_each(|x| *x = scaled(*x));
        mel.silence = scaled(QUIETEST);
        Ok(())
    }
}

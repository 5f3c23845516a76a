//! Whisper's features of the last 8 seconds: the loudness of each frequency band over time.
//!
//! Entry type: [`LogMel`]. Computes the same as
//! `transformers.WhisperFeatureExtractor(chunk_length=8)` with `do_normalize=True`, but pads
//! shorter sound with zeros **at the front**, as the network was trained.

use std::{f64::consts::PI, sync::Arc};

use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex};

/// Samples a second.
const RATE: usize = 16_000;
/// Samples that the network sees.
pub const WINDOW: usize = 8 * RATE;
/// Number of bands.
pub const MELS: usize = 80;
/// Samples from one frame to the next.
const HOP: usize = 160;
/// Frames in the window.
pub const FRAMES: usize = WINDOW / HOP;
/// Samples of a frame.
const FFT: usize = 400;
/// Frequencies of a frame.
const BINS: usize = FFT / 2 + 1;

/// One band: a triangle over neighbouring frequencies.
struct Filter {
    first: usize,
    weights: Vec<f32>,
}

pub struct LogMel {
    fft: Arc<dyn RealToComplex<f32>>,
    hann: Vec<f32>,
    filters: Vec<Filter>,
    /// The window, reflected by half a frame at either end.
    padded: Vec<f32>,
    frame: Vec<f32>,
    spectrum: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
    power: Vec<f32>,
}

impl Default for LogMel {
    #[expect(clippy::cast_possible_truncation, reason = "the tables are of single precision")]
    fn default() -> Self {
        let fft = RealFftPlanner::new().plan_fft_forward(FFT);
        let hann = |n: u16| (0.5 - 0.5 * (2.0 * PI * f64::from(n) / number(FFT)).cos()) as f32;
        Self {
            hann: (0..).map(hann).take(FFT).collect(),
            filters: filters(),
            padded: vec![0.0; WINDOW + FFT],
            frame: fft.make_input_vec(),
            spectrum: fft.make_output_vec(),
            scratch: fft.make_scratch_vec(),
            power: vec![0.0; BINS],
            fft,
        }
    }
}

impl LogMel {
    /// Features of the end of `audio`, 16 kHz mono from −1 to 1: [`MELS`] rows of [`FRAMES`].
    pub fn compute(&mut self, audio: &[f32]) -> Vec<f32> {
        self.fill(&audio[audio.len().saturating_sub(WINDOW)..]);
        let mut features = vec![0.0; MELS * FRAMES];
        let mut loudest = f32::MIN;
        for at in 0..FRAMES {
            self.transform(at * HOP);
            for (band, filter) in self.filters.iter().enumerate() {
                let bins = &self.power[filter.first..];
                let energy: f32 = filter.weights.iter().zip(bins).map(|(w, p)| w * p).sum();
                let log = energy.max(1e-10).log10();
                loudest = loudest.max(log);
                features[band * FRAMES + at] = log;
            }
        }
        for feature in &mut features {
            *feature = (feature.max(loudest - 8.0) + 4.0) / 4.0;
        }
        features
    }

    /// Computes the power of each frequency in the frame that begins at `start`.
    fn transform(&mut self, start: usize) {
        let samples = &self.padded[start..start + FFT];
        for ((out, sample), hann) in self.frame.iter_mut().zip(samples).zip(&self.hann) {
            *out = sample * hann;
        }
        // Fails only with buffers of another length.
        let _ =
            self.fft.process_with_scratch(&mut self.frame, &mut self.spectrum, &mut self.scratch);
        for (power, bin) in self.power.iter_mut().zip(&self.spectrum) {
            *power = bin.norm_sqr();
        }
    }

    /// Puts `audio` at the end of the window, normalises the **whole** window (padding included) to
    /// mean 0 and variance 1, and reflects its ends.
    #[expect(clippy::cast_possible_truncation, reason = "sums need more precision than samples")]
    fn fill(&mut self, audio: &[f32]) {
        let (sum, squares) = audio.iter().fold((0.0, 0.0), |(sum, squares), &sample| {
            let sample = f64::from(sample);
            (sum + sample, squares + sample * sample)
        });
        let mean = sum / number(WINDOW);
        let variance = squares / number(WINDOW) - mean * mean;
        let (mean, scale) = (mean as f32, (1.0 / (variance + 1e-7).sqrt()) as f32);

        let half = FFT / 2;
        let window = &mut self.padded[half..half + WINDOW];
        let (silence, voice) = window.split_at_mut(WINDOW - audio.len());
        silence.fill(-mean * scale);
        for (out, sample) in voice.iter_mut().zip(audio) {
            *out = (sample - mean) * scale;
        }
        for n in 1..=half {
            self.padded[half - n] = self.padded[half + n];
            self.padded[half + WINDOW - 1 + n] = self.padded[half + WINDOW - 1 - n];
        }
    }
}

/// The bands: Slaney's scale and normalisation by area, from 0 to 8 kHz, without weights of 0.
fn filters() -> Vec<Filter> {
    let top = to_mel(number(RATE) / 2.0);
    let edge = |n: usize| to_hertz(top * number(n) / number(MELS + 1));
    let hertz = |bin: usize| number(bin) * number(RATE) / number(FFT);
    (0..MELS)
        .map(|band| {
            let (low, centre, high) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |bin| {
                let rise = (hertz(bin) - low) / (centre - low);
                let fall = (high - hertz(bin)) / (high - centre);
                rise.min(fall).max(0.0) * 2.0 / (high - low)
            };
            let first = (0..BINS).find(|&bin| hertz(bin) > low).unwrap_or(BINS);
            let weights = (first..BINS).map(weight).take_while(|&weight| weight > 0.0);
            #[expect(clippy::cast_possible_truncation, reason = "samples are of single precision")]
            let weights = weights.map(|weight| weight as f32).collect();
            Filter { first, weights }
        })
        .collect()
}

/// Hertz in Slaney's mels: linear to 1 kHz, then logarithmic.
fn to_mel(hertz: f64) -> f64 {
    if hertz < 1000.0 { 3.0 * hertz / 200.0 } else { 15.0 + (hertz / 1000.0).ln() * step() }
}

fn to_hertz(mel: f64) -> f64 {
    if mel < 15.0 { 200.0 * mel / 3.0 } else { 1000.0 * ((mel - 15.0) / step()).exp() }
}

/// Mels for each factor of e above 1 kHz.
fn step() -> f64 {
    27.0 / 6.4_f64.ln()
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `transformers` 4.57 with the wave of this test; see `tests.rs` for the network.
    #[test]
    fn silence_is_flat_and_tone_peaks_in_its_band() {
        let mut mel = LogMel::default();
        let even = mel.compute(&[]);
        assert!(even.iter().all(|it| (it - even[0]).abs() < 1e-6));
        let tone = |n: u16| (std::f32::consts::TAU * f32::from(n % 16) / 16.0).sin();
        let heard = mel.compute(&(0..32_000).map(tone).collect::<Vec<_>>());
        let at = |band: usize, frame: usize| heard[band * FRAMES + frame];
        let loudest = (0..MELS).max_by(|a, b| at(*a, 700).total_cmp(&at(*b, 700)));
        // 1 kHz is mel 15 of 45.2, 26.9 of 81 edges.
        assert_eq!(loudest, Some(26));
        assert!(at(26, 300) < at(26, 700) - 1.0, "what is padded is silent");
        // Only the end of longer sound counts.
        let long: Vec<f32> = (0..60_000).chain(0..60_000).chain(0..60_000).map(tone).collect();
        assert_eq!(mel.compute(&long), mel.compute(&long[long.len() - WINDOW..]));
    }
}

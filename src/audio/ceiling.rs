//! Keeps the true peak of a stream at 48 kHz below -1 dBTP: [`Ceiling`].
//!
//! Works in pieces of 1 ms. The factor of a piece is reached before it begins, if the next piece is
//! already available. Peaks between samples are found by a half-sample filter near the limit.
//! **Never**: changes sound below the limit, or delays anything.

/// Highest amplitude out: -1.5 dB, since a peak may lie beside the examined points.
const MOST: f32 = 0.841 * 32_768.0;
/// Below this no peak between samples exceeds the limit.
const NEAR: f32 = 0.5 * 32_768.0;
/// 1 ms.
const PIECE: usize = 48;
/// Recovery per piece: 200 ms from silence to full loudness.
const RELEASE: f32 = 1.0 / 200.0;
/// Filter for the value half-way between two samples.
const HALFWAY: [f32; 8] =
    [-0.015_625, 0.062_5, -0.171_875, 0.625, 0.625, -0.171_875, 0.062_5, -0.015_625];

/// Lowers a stream where it is too loud, then lets it recover.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// Factor of the next sample, at most 1.0.
    factor: f32,
}

impl Ceiling {
    pub const fn new() -> Self {
        Self { factor: 1.0 }
    }

    /// Samples are in units of 16-bit samples.
    pub fn apply(&mut self, samples: &mut [f32]) {
        let starts = (0..samples.len()).step_by(PIECE);
        let factors: Vec<f32> =
            starts.map(|from| (MOST / peak(samples, from).max(1.0)).min(1.0)).collect();
        let next = factors.iter().skip(1).copied().chain([1.0]);
        for ((piece, now), next) in samples.chunks_mut(PIECE).zip(&factors).zip(next) {
            let from = self.factor.min(*now);
            let to = (from + RELEASE).min(*now).min(next);
            if from < 1.0 || to < 1.0 {
                let step = (to - from) / piece.len() as f32;
                let mut factor = from;
                for sample in piece {
                    factor += step;
                    *sample *= factor;
                }
            }
            self.factor = to;
        }
    }
}

/// Highest amplitude of the piece at `from`, including between samples.
fn peak(samples: &[f32], from: usize) -> f32 {
    let within =
        |first: usize, end: usize| samples.get(first..end.min(samples.len())).unwrap_or_default();
    let piece = within(from, from + PIECE);
    let highest = piece.iter().fold(0.0_f32, |highest, sample| highest.max(sample.abs()));
    if highest < NEAR {
        return highest;
    }
    let reach = HALFWAY.len() / 2;
    let around = within(from.saturating_sub(reach), from + PIECE + reach);
    let between = |window: &[f32]| {
        let products = window.iter().zip(HALFWAY).map(|(sample, weight)| sample * weight);
        products.sum::<f32>().abs()
    };
    around.windows(HALFWAY.len()).map(between).fold(highest, f32::max)
}

#[cfg(test)]
mod tests {
    use ebur128::{EbuR128, Mode};

    use super::*;
    use crate::audio::to_sample;

    /// A second of a tone of this amplitude; every fifth of it is louder by half.
    fn tone(hz: f32, amplitude: f32) -> Vec<f32> {
        let step = std::f32::consts::TAU * hz / 48_000.0;
        let sample = |at: u16| {
            let louder = if (at / 2_400) % 5 == 4 { 1.5 } else { 1.0 };
            (f32::from(at) * step + 0.4).sin() * amplitude * louder
        };
        (0..48_000).map(sample).collect()
    }

    fn limited(mut samples: Vec<f32>, pieces: usize) -> Vec<i16> {
        let mut ceiling = Ceiling::new();
        samples.chunks_mut(pieces).for_each(|piece| ceiling.apply(piece));
        samples.into_iter().map(to_sample).collect()
    }

    /// In dB of full scale.
    fn true_peak(samples: &[i16]) -> f64 {
        let mut meter = EbuR128::new(1, 48_000, Mode::TRUE_PEAK).unwrap();
        meter.add_frames_i16(samples).unwrap();
        20.0 * meter.true_peak(0).unwrap().log10()
    }

    #[test]
    fn true_peaks_stay_below_minus_one_db() {
        for (hz, pieces) in [(220.0, 960), (997.0, 2_400), (3_300.0, 48_000), (8_000.0, 4_800)] {
            let left = limited(tone(hz, 60_000.0), pieces);
            let peak = true_peak(&left);
            assert!((-4.0..=-1.0).contains(&peak), "{hz} Hz: {peak} dBTP");
        }
    }

    #[test]
    fn sound_that_fits_leaves_unchanged() {
        let fits = tone(997.0, 15_000.0);
        let as_it_was: Vec<i16> = fits.iter().map(|sample| to_sample(*sample)).collect();
        assert_eq!(limited(fits, 960), as_it_was);
    }

    #[test]
    fn stream_swells_back_after_a_peak() {
        let mut samples = vec![8_000.0; 48_000];
        samples[4_800] = 60_000.0;
        let left = limited(samples, 960);
        assert!(left[4_850] < 4_500, "{}", left[4_850]);
        assert_eq!((left[100], left[47_000]), (8_000, 8_000));
        let step = |pair: &[i16]| (i32::from(pair[1]) - i32::from(pair[0])).abs();
        assert!(left[4_850..].windows(2).all(|pair| step(pair) < 8), "no step is heard");
    }
}

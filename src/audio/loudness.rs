//! Perceived loudness by EBU R 128: [`Loudness`]; the common level is [`TARGET_LUFS`].

use ebur128::{EbuR128, Mode};

use super::pcm::SampleRate;

/// Loudness of all voices and tracks, in LUFS.
pub const TARGET_LUFS: f32 = -20.0;

/// Measures mono sound piece by piece.
pub struct Loudness(EbuR128);

impl Loudness {
    /// `None`: the rate is not supported.
    pub fn new(rate: SampleRate) -> Option<Self> {
        EbuR128::new(1, rate.hz(), Mode::I | Mode::HISTOGRAM).ok().map(Self)
    }

    pub fn push(&mut self, samples: &[i16]) {
        // Only planes of unequal length are refused.
        let _ = self.0.add_frames_i16(samples);
    }

    /// The integrated loudness in LUFS; `None`: silent, or shorter than 400 ms.
    pub fn lufs(&self) -> Option<f64> {
        self.0.loudness_global().ok().filter(|lufs| lufs.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::pcm::to_sample;

    #[test]
    fn tone_of_1_khz_has_standard_loudness() {
        // EBU Tech 3341: full scale in one channel is -3.01 LUFS at 997 Hz.
        let mut loudness = Loudness::new(SampleRate::HZ_48000).unwrap();
        let step = std::f32::consts::TAU * 997.0 / 48_000.0;
        let tone = |i: u16| to_sample((f32::from(i) * step).sin() * 3_276.7);
        let second: Vec<i16> = (0..48_000).map(tone).collect();
        let samples = second.repeat(5);
        samples.chunks(1_000).for_each(|piece| loudness.push(piece));
        let lufs = loudness.lufs().unwrap();
        assert!((lufs + 23.01).abs() < 0.1, "{lufs}");
    }

    #[test]
    fn silence_and_a_click_have_no_loudness() {
        let mut loudness = Loudness::new(SampleRate::HZ_16000).unwrap();
        loudness.push(&[1_000; 100]);
        assert_eq!(loudness.lufs(), None, "shorter than a block of 400 ms");
        let mut loudness = Loudness::new(SampleRate::HZ_16000).unwrap();
        loudness.push(&[0; 100_000]);
        assert_eq!(loudness.lufs(), None);
    }
}

//! Perceived loudness: of whole sounds by EBU R 128 ([`Loudness`]), of running streams by gating
//! blocks ([`GatingBlocks`]).
//!
//! [`GatingBlocks`] returns the power of each 400 ms block of ITU-R BS.1770 (one every 100 ms) once
//! it is complete, to level a voice while it speaks. [`gated_loudness`] combines the blocks of any
//! number of streams into one loudness. The common level is [`TARGET_LUFS`].

use ebur128::{EbuR128, Mode};

use super::pcm::SampleRate;

/// Loudness of all voices and tracks, in LUFS.
pub const TARGET_LUFS: f32 = -20.0;
/// Samples between blocks: 100 ms at 48 kHz.
const HOP: u16 = 4_800;
/// Hops in a block of 400 ms.
const HOPS: usize = 4;
/// Loudness of a power of 1.0, in LUFS.
const OFFSET: f32 = -0.691;
/// Quieter blocks do not count, in LUFS.
const ABSOLUTE_GATE: f32 = -70.0;
/// Blocks below this share of the others' mean (-10 LU) do not count.
const RELATIVE_GATE: f32 = 0.1;

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

/// A second-order filter, transposed direct form II.
#[derive(Clone, Copy, Debug)]
struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
    state: [f64; 2],
}

impl Biquad {
    /// The rise of the K-weighting above 1.5 kHz, at 48 kHz (BS.1770, table 1).
    const HEAD: Self = Self {
        b: [1.535_124_859_586_97, -2.691_696_189_406_38, 1.198_392_810_852_85],
        a: [-1.690_659_293_182_41, 0.732_480_774_215_85],
        state: [0.0; 2],
    };
    /// Its low cut, at 48 kHz (BS.1770, table 2).
    const LOW_CUT: Self = Self {
        b: [1.0, -2.0, 1.0],
        a: [-1.990_047_454_833_98, 0.990_072_250_366_21],
        state: [0.0; 2],
    };

    fn next(&mut self, sample: f64) -> f64 {
        let ([b0, b1, b2], [a1, a2], [first, second]) = (self.b, self.a, self.state);
        let out = b0 * sample + first;
        self.state = [b1 * sample - a1 * out + second, b2 * sample - a2 * out];
        out
    }
}

/// For mono sound at 48 kHz.
#[derive(Clone, Debug)]
pub struct GatingBlocks {
    head: Biquad,
    low_cut: Biquad,
    /// Powers of the last hops, newest last.
    hops: [f64; HOPS],
    count: u32,
    /// Sum of squares of all hops.
    total: f64,
    /// Sum of squares of the current hop.
    sum: f64,
    samples: u16,
}

impl GatingBlocks {
    pub const fn new() -> Self {
        Self {
            head: Biquad::HEAD,
            low_cut: Biquad::LOW_CUT,
            hops: [0.0; HOPS],
            count: 0,
            total: 0.0,
            sum: 0.0,
            samples: 0,
        }
    }

    /// Adds the power of each completed block to `powers`.
    #[expect(clippy::cast_possible_truncation, reason = "powers from 0 to about 2")]
    pub fn push(&mut self, samples: &[i16], powers: &mut Vec<f32>) {
        for sample in samples {
            let weighted = self.low_cut.next(self.head.next(f64::from(*sample) / 32_768.0));
            self.sum += weighted * weighted;
            self.samples += 1;
            if self.samples == HOP {
                self.hops.rotate_left(1);
                if let Some(newest) = self.hops.last_mut() {
                    *newest = self.sum / f64::from(HOP);
                }
                self.count = self.count.saturating_add(1);
                self.total += self.sum;
                (self.sum, self.samples) = (0.0, 0);
                if self.count as usize >= HOPS {
                    powers.push((self.hops.iter().sum::<f64>() / HOPS as f64) as f32);
                }
            }
        }
    }

    /// Power of all sound, and its share of a block, at most 1.0. For sound shorter than a block.
    #[expect(clippy::cast_possible_truncation, reason = "powers from 0 to about 2, and a share")]
    pub fn so_far(&self) -> (f32, f32) {
        let samples = f64::from(self.count) * f64::from(HOP) + f64::from(self.samples);
        let power = (self.total + self.sum) / samples.max(1.0);
        let block = f64::from(HOP) * HOPS as f64;
        (power as f32, (samples / block).min(1.0) as f32)
    }
}

/// In LUFS.
pub fn loudness_of(power: f32) -> f32 {
    OFFSET + 10.0 * power.log10()
}

pub fn power_of(lufs: f32) -> f32 {
    10.0_f32.powf((lufs - OFFSET) / 10.0)
}

/// Gated loudness of these blocks, in LUFS; `None`: all silent.
pub fn gated_loudness(powers: impl Iterator<Item = f32> + Clone) -> Option<f32> {
    let above = |least: f32| {
        let (mut count, mut sum) = (0.0_f32, 0.0_f32);
        for power in powers.clone().filter(|power| *power > least) {
            count += 1.0;
            sum += power;
        }
        (count > 0.0).then(|| sum / count)
    };
    let absolute = power_of(ABSOLUTE_GATE);
    let mean = above(absolute)?;
    above(absolute.max(mean * RELATIVE_GATE)).map(loudness_of)
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

    /// Tones of a second each at these levels, not in whole hops.
    fn tones(levels: &[f32]) -> Vec<i16> {
        let tone = |level: f32| {
            (0..50_000_u16).map(move |at| to_sample((f32::from(at) * 0.09).sin() * level))
        };
        levels.iter().flat_map(|level| tone(*level)).collect()
    }

    /// The loudness by blocks, fed in `pieces` samples.
    fn by_blocks(samples: &[i16], pieces: usize) -> Option<f32> {
        let (mut blocks, mut powers) = (GatingBlocks::new(), Vec::new());
        samples.chunks(pieces).for_each(|piece| blocks.push(piece, &mut powers));
        gated_loudness(powers.into_iter())
    }

    #[test]
    fn blocks_agree_with_the_loudness_of_the_whole() {
        for levels in [&[3_000.0][..], &[9_000.0, 0.0, 5_000.0], &[9_000.0, 150.0, 2_000.0, 40.0]] {
            let samples = tones(levels);
            let mut whole = Loudness::new(SampleRate::HZ_48000).unwrap();
            whole.push(&samples);
            let (whole, blocks) = (whole.lufs().unwrap(), by_blocks(&samples, 960).unwrap());
            assert!((whole - f64::from(blocks)).abs() < 0.15, "{levels:?}: {whole} {blocks}");
            assert_eq!(by_blocks(&samples, 77), Some(blocks), "any pieces");
        }
    }

    #[test]
    fn silence_has_no_gated_loudness() {
        assert_eq!(by_blocks(&[0; 50_000], 960), None);
        assert_eq!(by_blocks(&tones(&[3_000.0])[..10_000], 960), None, "shorter than a block");
    }

    #[test]
    fn short_sound_has_a_power_so_far() {
        let mut blocks = GatingBlocks::new();
        assert_eq!(blocks.so_far(), (0.0, 0.0));
        blocks.push(&tones(&[9_000.0])[..9_600], &mut Vec::new());
        let (power, share) = blocks.so_far();
        let whole = by_blocks(&tones(&[9_000.0]), 960).unwrap();
        assert!((share - 0.5).abs() < 1e-6 && (loudness_of(power) - whole).abs() < 0.2, "{power}");
        assert!((loudness_of(power_of(-20.0)) + 20.0).abs() < 1e-3);
    }
}

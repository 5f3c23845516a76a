//! Changes loudness at once ([`amplify`], by a [`factor_of`] dB) or smoothly ([`Gain`]).
//!
//! Everything saturates. **Never** looks ahead: a ramp begins with the next sample.

use super::pcm::{SampleRate, to_sample};
use std::f32::consts::FRAC_PI_2;
use std::time::Duration;

/// Multiplies by a factor (1.0 changes nothing), saturating.
pub fn amplify(samples: &mut [i16], factor: f32) {
    for sample in samples {
        *sample = to_sample(f32::from(*sample) * factor);
    }
}

pub fn factor_of(db: f32) -> f32 {
    10.0_f32.powf(db / 20.0)
}

/// A volume that moves smoothly: ducks a voice under another and restores it.
///
/// Ramps are equal-power: power, not amplitude, follows a raised cosine, so that crossing voices or
/// tracks keep their total loudness.
#[derive(Debug, Clone)]
pub struct Gain {
    rate: SampleRate,
    /// Factor at the start of the ramp.
    from: f32,
    /// Factor at the end of the ramp and afterwards.
    to: f32,
    done: usize,
    /// Samples of the whole ramp.
    len: usize,
}

impl Gain {
    /// Starts at 0 dB.
    pub fn new(rate: SampleRate) -> Self {
        Self { rate, from: 1.0, to: 1.0, done: 0, len: 0 }
    }

    /// Moves to `db` (0 = unchanged, −12 = ducked, −∞ = mute) within `duration` from the current
    /// level. Zero duration moves at once.
    pub fn ramp_to(&mut self, db: f32, duration: Duration) {
        self.from = self.factor();
        self.to = factor_of(db);
        self.done = 0;
        self.len = self.rate.samples_in(duration);
    }

    pub fn is_ramping(&self) -> bool {
        self.done < self.len
    }

    /// Applies the volume to the next samples, saturating.
    pub fn apply(&mut self, samples: &mut [i16]) {
        let ramp = samples.len().min(self.len - self.done);
        let (ramping, steady) = samples.split_at_mut(ramp);
        for sample in ramping {
            *sample = to_sample(f32::from(*sample) * self.step());
        }
        // Sound at 0 dB stays bit-exact.
        #[expect(clippy::float_cmp, reason = "exactly 1.0 is what 0 dB gives")]
        if self.to != 1.0 {
            amplify(steady, self.to);
        }
    }

    /// Advances by one sample; returns its factor, for sums that are rounded later.
    pub fn step(&mut self) -> f32 {
        if self.is_ramping() {
            self.done += 1;
        }
        self.factor()
    }

    /// The factor of the last sample.
    fn factor(&self) -> f32 {
        if !self.is_ramping() {
            return self.to;
        }
        let (sin, cos) = (FRAC_PI_2 * self.done as f32 / self.len as f32).sin_cos();
        (self.from * cos).hypot(self.to * sin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: SampleRate = SampleRate::HZ_48000;
    const FADE: Duration = Duration::from_millis(150);

    #[test]
    fn amplifying_saturates() {
        let mut samples = [100, -100, 30_000, -30_000];
        amplify(&mut samples, 2.0);
        assert_eq!(samples, [200, -200, i16::MAX, i16::MIN]);
        amplify(&mut samples, 0.0);
        assert_eq!(samples, [0; 4]);
    }

    #[test]
    fn zero_db_leaves_the_bits_alone() {
        let sound: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let mut out = sound.clone();
        Gain::new(RATE).apply(&mut out);
        assert_eq!(out, sound);
    }

    #[test]
    fn ducking_arrives_soon_without_a_step() {
        let mut gain = Gain::new(RATE);
        gain.ramp_to(-12.0, FADE);
        let mut out = vec![20_000_i16; 9_600];
        for frame in out.chunks_mut(960) {
            gain.apply(frame);
        }
        assert!(!gain.is_ramping());
        assert!((i32::from(out[7_199]) - 5_024).abs() <= 1, "{}", out[7_199]);
        assert!(out.windows(2).all(|w| (0..=8).contains(&(w[0] - w[1]))), "a step is audible");
        assert!(out[7_200..].iter().all(|&s| s == out[7_200]));
    }

    #[test]
    fn ramp_turned_round_starts_where_it_is() {
        let mut gain = Gain::new(RATE);
        gain.ramp_to(f32::NEG_INFINITY, FADE);
        let mut out = vec![20_000_i16; 3_000];
        gain.apply(&mut out);
        gain.ramp_to(0.0, FADE);
        let mut back = vec![20_000_i16; 7_300];
        gain.apply(&mut back);
        assert!((i32::from(back[0]) - i32::from(out[2_999])).abs() < 8);
        assert_eq!(back[7_299], 20_000);
    }

    #[test]
    fn same_ramp_for_any_pieces() {
        let run = |piece: usize| {
            let mut gain = Gain::new(RATE);
            gain.ramp_to(-30.0, FADE);
            let mut out = vec![12_345_i16; 8_000];
            out.chunks_mut(piece).for_each(|part| gain.apply(part));
            out
        };
        assert_eq!(run(8_000), run(7));
    }

    #[test]
    fn steps_are_the_factors_that_are_applied() {
        let (mut applied, mut stepped) = (Gain::new(RATE), Gain::new(RATE));
        applied.ramp_to(-12.0, FADE);
        stepped.ramp_to(-12.0, FADE);
        let mut out = vec![10_000_i16; 8_000];
        applied.apply(&mut out);
        assert!(out.iter().all(|&sample| sample == to_sample(10_000.0 * stepped.step())));
    }

    #[test]
    fn crossing_fades_keep_their_power() {
        let (mut out, mut swell) = (Gain::new(RATE), Gain::new(RATE));
        swell.ramp_to(f32::NEG_INFINITY, Duration::ZERO);
        out.ramp_to(f32::NEG_INFINITY, FADE);
        swell.ramp_to(0.0, FADE);
        let (mut a, mut b) = ([20_000_i16; 7_200], [20_000_i16; 7_200]);
        out.apply(&mut a);
        swell.apply(&mut b);
        assert!(a[7_199] == 0 && b[7_199] == 20_000);
        for (a, b) in a.iter().zip(&b) {
            let power = f32::from(*a).hypot(f32::from(*b));
            assert!((power - 20_000.0).abs() < 2.0, "{power}");
        }
    }
}

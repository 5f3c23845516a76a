//! Keeps a sum of sounds within 16 bits: [`Limiter`]. Leaves quieter samples unchanged.

use crate::audio::to_sample;

const FULL: f32 = 32_768.0;
/// Recovery per sample: 200 ms from silence to full loudness at 48 kHz.
const RELEASE: f32 = 1.0 / 9_600.0;

/// Lowers the gain at a sample that would clip, then lets it recover. Unlike clipping it flattens
/// no peaks, and it needs no look-ahead.
#[derive(Debug)]
pub struct Limiter {
    factor: f32,
}

impl Limiter {
    pub const fn new() -> Self {
        Self { factor: 1.0 }
    }

    /// Limits the next sample; NaN becomes silence.
    pub fn limit(&mut self, value: f32) -> i16 {
        if value.abs() * self.factor > FULL && value.is_finite() {
            self.factor = FULL / value.abs();
        }
        let sample = to_sample(value * self.factor);
        self.factor = (self.factor + RELEASE).min(1.0);
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_fit_pass_unchanged() {
        let mut limiter = Limiter::new();
        assert!((i16::MIN..=i16::MAX).all(|sample| limiter.limit(f32::from(sample)) == sample));
    }

    #[test]
    fn peak_too_loud_lowers_what_follows() {
        let mut limiter = Limiter::new();
        assert_eq!(limiter.limit(65_536.0), i16::MAX);
        let next = limiter.limit(10_000.0);
        assert!((5_000..5_010).contains(&next), "{next}");
        let last = (0..9_600).map(|_| limiter.limit(10_000.0)).last();
        assert_eq!(last, Some(10_000));
        assert_eq!(limiter.limit(-1e9), i16::MIN);
        assert_eq!(limiter.limit(f32::NAN), 0);
    }
}

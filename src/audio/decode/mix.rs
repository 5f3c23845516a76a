//! Interleaved samples of several channels to one.
//!
//! Entry type: [`Mix`]. **Never** holds more than [`MAX_SAMPLES`] samples.

use crate::audio::pcm::{Clip, SampleRate, to_sample};

use super::error::{DecodeError, MAX_SAMPLES};

/// Rates of speech and music, in Hz.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=768_000;

/// Collects interleaved samples (full scale 1.0) and mixes the channels down to one: their mean,
/// so that nothing clips.
pub struct Mix {
    /// Rate of the result.
    pub rate: SampleRate,
    /// How many interleaved samples make one.
    pub channels: usize,
    /// The beginning of a sample of all channels, when a packet ends inside it.
    sum: f32,
    /// How many samples `sum` is of.
    n_summed: usize,
    /// Interleaved samples so far.
    n_seen: usize,
    /// The result so far.
    samples: Vec<i16>,
}

impl Mix {
    /// Nothing yet, of a stream with this rate and so many channels.
    pub fn new(hz: u32, channels: usize) -> Result<Self, DecodeError> {
        let rate = SampleRate::new(hz).ok().filter(|rate| RATES.contains(&rate.hz()));
        let rate = rate.ok_or(DecodeError::AbsurdRate { hz })?;
        Ok(Self { rate, channels, sum: 0.0, n_summed: 0, n_seen: 0, samples: Vec::new() })
    }

    /// Mixes the next samples in.
    pub fn push(&mut self, interleaved: &[f32]) -> Result<(), DecodeError> {
        self.n_seen += interleaved.len();
        if self.n_seen > MAX_SAMPLES {
            return Err(DecodeError::TooLong);
        }
        for &sample in interleaved {
            self.sum += sample;
            self.n_summed += 1;
            if self.n_summed == self.channels {
                let mean = self.sum / self.channels as f32;
                self.samples.push(to_sample(mean * 32_768.0));
                (self.sum, self.n_summed) = (0.0, 0);
            }
        }
        Ok(())
    }

    /// The whole sound.
    pub fn into_clip(self) -> Result<Clip, DecodeError> {
        if self.samples.is_empty() {
            return Err(DecodeError::NoSamples);
        }
        Ok(Clip { samples: self.samples, rate: self.rate })
    }
}

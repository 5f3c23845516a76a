//! Decoded samples to one mono clip of the rate that is wanted.
//!
//! Entry type: [`Output`]. **Never** holds more sound than [`MAX_SOUND`].

use crate::audio::{
    pcm::{Clip, SampleRate, to_sample},
    resample::Resampler,
};

use super::error::{DecodeError, MAX_SOUND, damaged};

/// Rates of speech and music, in Hz.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=768_000;

/// Collects what a decoder gives, piece by piece.
pub struct Output {
    /// Rate of the result; `None`: the stream's own.
    wanted: Option<SampleRate>,
    /// Known once the first samples are there.
    mix: Option<Mix>,
}

impl Output {
    /// Nothing yet.
    pub const fn new(wanted: Option<SampleRate>) -> Self {
        Self { wanted, mix: None }
    }

    /// Takes interleaved samples (full scale 1.0) and mixes the channels down to one: their mean,
    /// so that nothing clips. A piece may end inside a sample of all channels.
    ///
    /// # Errors
    /// A rate that no sound has or that changes inside a `kind` file, or too much of it.
    pub fn take(
        &mut self,
        kind: &'static str,
        hz: u32,
        channels: usize,
        interleaved: &[f32],
    ) -> Result<(), DecodeError> {
        if channels == 0 {
            return Err(damaged(kind, "it has no channels"));
        }
        let mix = self.mix(kind, hz)?;
        for &sample in interleaved {
            mix.sum += sample;
            mix.n_summed += 1;
            if mix.n_summed >= channels {
                mix.mono.push(to_sample(mix.sum / channels as f32 * 32_768.0));
                (mix.sum, mix.n_summed) = (0.0, 0);
            }
        }
        mix.flush()
    }

    /// Takes samples of one channel.
    ///
    /// # Errors
    /// As [`Output::take`].
    pub fn take_mono(
        &mut self,
        kind: &'static str,
        hz: u32,
        samples: &[i16],
    ) -> Result<(), DecodeError> {
        let mix = self.mix(kind, hz)?;
        mix.mono.extend_from_slice(samples);
        mix.flush()
    }

    /// The whole sound.
    ///
    /// # Errors
    /// There is none.
    pub fn into_clip(self) -> Result<Clip, DecodeError> {
        let mut mix = self.mix.ok_or(DecodeError::NoSamples)?;
        mix.resampler.finish(&mut mix.samples);
        if mix.samples.is_empty() {
            return Err(DecodeError::NoSamples);
        }
        Ok(Clip { samples: mix.samples, rate: self.wanted.unwrap_or(mix.rate) })
    }

    /// What collects samples of this rate.
    fn mix(&mut self, kind: &'static str, hz: u32) -> Result<&mut Mix, DecodeError> {
        let mix = match &mut self.mix {
            Some(mix) => mix,
            none => none.insert(Mix::new(hz, self.wanted)?),
        };
        if mix.rate.hz() != hz {
            return Err(damaged(kind, "its sample rate changes"));
        }
        Ok(mix)
    }
}

/// Sound of one rate so far.
struct Mix {
    /// Rate of what comes in.
    rate: SampleRate,
    /// To the rate of the result.
    resampler: Resampler,
    /// The beginning of a sample of all channels, when a piece ends inside it.
    sum: f32,
    /// How many samples `sum` is of.
    n_summed: usize,
    /// Mixed, and not yet resampled.
    mono: Vec<i16>,
    /// How many more samples may come.
    room: usize,
    /// The result so far.
    samples: Vec<i16>,
}

impl Mix {
    /// Nothing yet, of a stream with this rate.
    fn new(hz: u32, wanted: Option<SampleRate>) -> Result<Self, DecodeError> {
        let rate = SampleRate::new(hz).ok().filter(|rate| RATES.contains(&rate.hz()));
        let rate = rate.ok_or(DecodeError::AbsurdRate { hz })?;
        let resampler = Resampler::new(rate, wanted.unwrap_or(rate));
        Ok(Self {
            rate,
            resampler: resampler.map_err(|_| DecodeError::AbsurdRate { hz })?,
            sum: 0.0,
            n_summed: 0,
            mono: Vec::new(),
            room: rate.samples_in(MAX_SOUND),
            samples: Vec::new(),
        })
    }

    /// Resamples what was mixed.
    fn flush(&mut self) -> Result<(), DecodeError> {
        self.room = self.room.checked_sub(self.mono.len()).ok_or(DecodeError::TooLong)?;
        self.resampler.push(&self.mono, &mut self.samples);
        self.mono.clear();
        Ok(())
    }
}

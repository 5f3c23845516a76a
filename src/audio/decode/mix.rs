//! Mixes decoded samples to mono and resamples them.
//!
//! Entry type: [`Output`]. **Never** holds more than a piece.

use std::{io, time::Duration};

use crate::audio::{
    pcm::{SampleRate, to_sample},
    resample::Resampler,
};

use super::error::{DecodeError, damaged};

/// Rates of speech and music, in Hz.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=768_000;

/// Receives pieces of decoded sound; an error ends the decoding.
pub type Taker<'a> = &'a mut dyn FnMut(&[i16]) -> io::Result<()>;

/// Receives pieces of sound with their rates.
pub type RatedTaker<'a> = &'a mut dyn FnMut(SampleRate, &[i16]) -> io::Result<()>;

pub struct Output<'a> {
    /// `None`: the stream's own rate.
    wanted: Option<SampleRate>,
    /// `None`: unlimited.
    most: Option<Duration>,
    /// Set with the first samples.
    mix: Option<Mix>,
    taker: RatedTaker<'a>,
}

impl<'a> Output<'a> {
    /// `most`: longest sound it accepts.
    pub const fn new(
        wanted: Option<SampleRate>,
        most: Option<Duration>,
        taker: RatedTaker<'a>,
    ) -> Self {
        Self { wanted, most, mix: None, taker }
    }

    /// Takes interleaved samples (full scale 1.0) and mixes the channels to their mean, which
    /// cannot clip. A piece may end inside a frame of all channels. Fails on an absurd or changing
    /// rate, or too much sound.
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
        self.flush()
    }

    /// Takes samples of one channel.
    pub fn take_mono(
        &mut self,
        kind: &'static str,
        hz: u32,
        samples: &[i16],
    ) -> Result<(), DecodeError> {
        let mix = self.mix(kind, hz)?;
        mix.mono.extend_from_slice(samples);
        self.flush()
    }

    /// Passes on the rest; returns the rate of the whole. Fails with [`DecodeError::NoSamples`] if
    /// no packet had sound.
    pub fn finish(mut self) -> Result<SampleRate, DecodeError> {
        let mix = self.mix.as_mut().ok_or(DecodeError::NoSamples)?;
        mix.resampler.finish(&mut mix.samples);
        let rate = self.wanted.unwrap_or(mix.rate);
        self.hand_on()?;
        let has_sound = self.mix.is_some_and(|mix| mix.has_sound);
        has_sound.then_some(rate).ok_or(DecodeError::NoSamples)
    }

    /// Resamples the mixed samples and passes them on.
    fn flush(&mut self) -> Result<(), DecodeError> {
        let Some(mix) = &mut self.mix else { return Ok(()) };
        if let Some(room) = &mut mix.room {
            *room = room.checked_sub(mix.mono.len()).ok_or(DecodeError::TooLong)?;
        }
        mix.resampler.push(&mix.mono, &mut mix.samples);
        mix.mono.clear();
        self.hand_on()
    }

    fn hand_on(&mut self) -> Result<(), DecodeError> {
        let Some(mix) = self.mix.as_mut().filter(|mix| !mix.samples.is_empty()) else {
            return Ok(());
        };
        (self.taker)(self.wanted.unwrap_or(mix.rate), &mix.samples)?;
        mix.samples.clear();
        mix.has_sound = true;
        Ok(())
    }

    /// The mix at this rate; created on first use.
    fn mix(&mut self, kind: &'static str, hz: u32) -> Result<&mut Mix, DecodeError> {
        let mix = match &mut self.mix {
            Some(mix) => mix,
            none => none.insert(Mix::new(hz, self.wanted, self.most)?),
        };
        if mix.rate.hz() != hz {
            return Err(damaged(kind, "its sample rate changes"));
        }
        Ok(mix)
    }
}

struct Mix {
    rate: SampleRate,
    resampler: Resampler,
    /// Sum of an incomplete frame of all channels.
    sum: f32,
    /// Number of samples in `sum`.
    n_summed: usize,
    /// Mixed, not yet resampled.
    mono: Vec<i16>,
    /// Samples that may still come; `None`: any number.
    room: Option<usize>,
    /// Resampled, not yet passed on.
    samples: Vec<i16>,
    /// Some sound was passed on.
    has_sound: bool,
}

impl Mix {
    fn new(
        hz: u32,
        wanted: Option<SampleRate>,
        most: Option<Duration>,
    ) -> Result<Self, DecodeError> {
        let rate = SampleRate::new(hz).ok().filter(|rate| RATES.contains(&rate.hz()));
        let rate = rate.ok_or(DecodeError::AbsurdRate { hz })?;
        let resampler = Resampler::new(rate, wanted.unwrap_or(rate));
        Ok(Self {
            rate,
            resampler: resampler.map_err(|_| DecodeError::AbsurdRate { hz })?,
            sum: 0.0,
            n_summed: 0,
            mono: Vec::new(),
            room: most.map(|most| rate.samples_in(most)),
            samples: Vec::new(),
            has_sound: false,
        })
    }
}

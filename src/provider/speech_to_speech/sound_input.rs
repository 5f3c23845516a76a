//! Converts sound of any rate to a service's rate, one utterance at a time.
//!
//! Entry type: [`SoundInput`]. **Never**: decides when an utterance ends.

use crate::{
    audio::{Resampler, SampleRate},
    provider::{Error, Kind, Pcm},
};

#[derive(Debug)]
pub struct SoundInput {
    rate: SampleRate,
    /// Shortest utterance the service accepts, in samples.
    shortest: usize,
    /// Converter with its input rate; kept for the next utterance because building it takes time.
    resampler: Option<(SampleRate, Resampler)>,
    has_sound: bool,
    /// Samples returned since then.
    given: usize,
}

impl SoundInput {
    pub const fn new(rate: SampleRate, shortest: usize) -> Self {
        Self { rate, shortest, resampler: None, has_sound: false, given: 0 }
    }

    /// Returns the samples that are ready. Fails, dropping the sound, if its rate cannot be
    /// converted.
    pub fn take(&mut self, sound: &Pcm) -> Result<Vec<i16>, Error> {
        let mut samples = Vec::new();
        if self.resampler.as_ref().is_none_or(|(rate, _)| *rate != sound.rate) {
            let resampler = Resampler::new(sound.rate, self.rate)
                .map_err(|error| Error::new(Kind::InvalidRequest, error.to_string()))?;
            // Sound of the former rate comes first.
            self.flush(&mut samples);
            self.resampler = Some((sound.rate, resampler));
        }
        if let Some((_, resampler)) = &mut self.resampler {
            resampler.push(&sound.samples, &mut samples);
        }
        self.has_sound |= !sound.samples.is_empty();
        self.given += samples.len();
        Ok(samples)
    }

    /// Ends the utterance and returns its rest; `None`: it had no sound.
    pub fn end(&mut self) -> Option<Vec<i16>> {
        let mut rest = Vec::new();
        self.flush(&mut rest);
        let given = std::mem::take(&mut self.given);
        if self.has_sound && given + rest.len() < self.shortest {
            rest.resize(self.shortest - given, 0);
        }
        std::mem::take(&mut self.has_sound).then_some(rest)
    }

    fn flush(&mut self, samples: &mut Vec<i16>) {
        if let Some((_, resampler)) = &mut self.resampler {
            resampler.finish(samples);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input() -> SoundInput {
        SoundInput::new(SampleRate::HZ_24000, 2_400)
    }

    fn sound(samples: usize, hz: u32) -> Pcm {
        Pcm { samples: vec![100; samples], rate: SampleRate::new(hz).unwrap() }
    }

    #[test]
    fn utterance_is_as_long_at_24_khz() {
        let mut input = input();
        for _ in 0..2 {
            let mut samples = input.take(&sound(16_000, 16_000)).unwrap();
            samples.extend(input.take(&sound(8_000, 16_000)).unwrap());
            samples.extend(input.end().unwrap());
            assert_eq!(samples.len(), 36_000);
        }
        assert_eq!(input.end(), None);
    }

    #[test]
    fn rate_that_changes_loses_nothing() {
        let mut input = input();
        let mut samples = input.take(&sound(16_000, 16_000)).unwrap();
        samples.extend(input.take(&sound(24_000, 24_000)).unwrap());
        samples.extend(input.end().unwrap());
        assert_eq!(samples.len(), 48_000);
    }

    #[test]
    fn absurd_rate_is_refused() {
        let error = input().take(&sound(10, 1)).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest);
        assert!(error.to_string().contains("1 Hz"), "{error}");
    }
}

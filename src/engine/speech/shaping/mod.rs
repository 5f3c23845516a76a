//! From a service's rate and loudness to frames of 48 kHz.
//!
//! Entry type: [`Shaping`].

use super::{
    levelling::Levelling,
    levels::{VoiceKey, VoiceLevels},
};
use crate::{
    audio::{Frame, Framer, Resampler, SampleRate, amplify},
    provider::{Error, Kind, Pcm},
};

pub struct Shaping {
    resampler: Option<(SampleRate, Resampler)>,
    framer: Framer,
    volume: f32,
    levelling: Option<Levelling>,
}

impl Shaping {
    /// `volume` is a factor.
    pub fn new(volume: f32) -> Self {
        let framer = Framer::new(SampleRate::HZ_48000);
        Self { resampler: None, framer, volume, levelling: None }
    }

    pub fn level(&mut self, levels: &VoiceLevels, voice: VoiceKey) {
        self.levelling = Some(Levelling::new(levels, voice));
    }

    /// The frames that `chunk` completes. Fails with [`Kind::Protocol`] on an impossible rate.
    pub fn push(&mut self, chunk: &Pcm) -> Result<Vec<Frame>, Error> {
        if self.resampler.as_ref().is_none_or(|(rate, _)| *rate != chunk.rate) {
            let resampler = Resampler::new(chunk.rate, SampleRate::HZ_48000)
                .map_err(|error| Error::new(Kind::Protocol, error.to_string()))?;
            self.resampler = Some((chunk.rate, resampler));
        }
        let mut samples = Vec::with_capacity(chunk.samples.len() * 3);
        if let Some((_, resampler)) = &mut self.resampler {
            resampler.push(&chunk.samples, &mut samples);
        }
        Ok(self.frames(samples))
    }

    /// The rest, filled up with silence.
    pub fn finish(&mut self) -> Vec<Frame> {
        let mut samples = Vec::new();
        if let Some((_, mut resampler)) = self.resampler.take() {
            resampler.finish(&mut samples);
        }
        let mut frames = self.frames(samples);
        frames.extend(self.framer.finish());
        // Dropping it adds the line to its voice.
        self.levelling = None;
        frames
    }

    fn frames(&mut self, mut samples: Vec<i16>) -> Vec<Frame> {
        match &mut self.levelling {
            Some(levelling) => levelling.apply(&mut samples, self.volume),
            None if (self.volume - 1.0).abs() > f32::EPSILON => {
                amplify(&mut samples, self.volume);
            }
            None => {}
        }
        let mut frames = Vec::new();
        self.framer.push(&samples, &mut frames);
        frames
    }
}

#[cfg(test)]
mod tests;

//! Sound at 24 kHz, as the services are asked for it.
//!
//! Entry type: [`Samples`].

use crate::{audio::SampleRate, provider::Pcm};

/// Decodes 16-bit samples, however they are split.
#[derive(Default)]
pub struct Samples {
    half: Option<u8>,
}

impl Samples {
    pub fn read(&mut self, bytes: &[u8]) -> Pcm {
        let mut samples = Vec::with_capacity(bytes.len() / 2 + 1);
        let mut bytes = self.half.take().into_iter().chain(bytes.iter().copied());
        while let Some(low) = bytes.next() {
            match bytes.next() {
                Some(high) => samples.push(i16::from_le_bytes([low, high])),
                None => self.half = Some(low),
            }
        }
        Pcm { samples, rate: SampleRate::HZ_24000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_samples_are_put_together() {
        let mut samples = Samples::default();
        assert_eq!(samples.read(&[1, 0, 2]).samples, [1_i16]);
        assert_eq!(samples.read(&[1]).samples, [0x102_i16]);
        assert!(samples.read(&[]).samples.is_empty());
    }
}

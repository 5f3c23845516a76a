//! Decodes a voice service's answer into 16-bit mono samples, however it is split.
//!
//! Entry type: [`Reader`]. The first bytes tell raw PCM from WAV. **Never**: decodes compressed
//! sound; a service that sends it ignored our request.

use crate::audio::{SampleRate, SplitSamples, WavError, WavStream};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPcm {
    #[error("{0}")]
    Compressed(&'static str),
    #[error("{0}")]
    Wav(#[from] WavError),
}

#[derive(Debug)]
pub struct Reader {
    /// Rate of samples without a header.
    raw_rate: SampleRate,
    format: Format,
}

#[derive(Debug)]
enum Format {
    /// Too few bytes to tell.
    Start(Vec<u8>),
    /// Samples without a header.
    Raw(SplitSamples),
    Wav(WavStream),
}

impl Reader {
    pub const fn new(raw_rate: SampleRate) -> Self {
        Self { raw_rate, format: Format::Start(Vec::new()) }
    }

    pub fn rate(&self) -> Option<SampleRate> {
        match &self.format {
            Format::Start(_) => None,
            Format::Raw(_) => Some(self.raw_rate),
            Format::Wav(stream) => stream.rate(),
        }
    }

    /// True if samples that a header promised have not come.
    pub fn is_short(&self) -> bool {
        matches!(&self.format, Format::Wav(stream) if stream.is_short())
    }

    /// Returns complete samples. The error names the format of other bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<i16>, NotPcm> {
        match &mut self.format {
            Format::Start(held) => {
                held.extend_from_slice(bytes);
                if held.len() >= 4 {
                    let held = std::mem::take(held);
                    self.format = Format::for_start(&held)?;
                    return self.push(&held);
                }
                Ok(Vec::new())
            }
            Format::Raw(samples) => Ok(samples.push(bytes)),
            Format::Wav(stream) => {
                let mut samples = Vec::new();
                stream.push(bytes, &mut samples)?;
                Ok(samples)
            }
        }
    }
}

impl Format {
    fn for_start(head: &[u8]) -> Result<Self, NotPcm> {
        match head {
            [b'R', b'I', b'F', b'F', ..] => Ok(Self::Wav(WavStream::new())),
            [b'O', b'g', b'g', b'S', ..] => Err(NotPcm::Compressed("Ogg")),
            [b'f', b'L', b'a', b'C', ..] => Err(NotPcm::Compressed("FLAC")),
            [b'I', b'D', b'3', ..] => Err(NotPcm::Compressed("MP3")),
            // Raw samples may look like this, but not with valid bit and sample rates.
            [0xff, 0xfb | 0xf3, rates, _, ..] if !is_reserved(*rates) => {
                Err(NotPcm::Compressed("MP3"))
            }
            _ => Ok(Self::Raw(SplitSamples::default())),
        }
    }
}

fn is_reserved(rates: u8) -> bool {
    matches!(rates >> 4, 0 | 0xf) || rates & 0x0c == 0x0c
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::audio::{Clip, write_wav};

    fn read(bytes: &[u8], step: usize) -> Result<(Vec<i16>, Option<SampleRate>), NotPcm> {
        let mut reader = Reader::new(SampleRate::HZ_24000);
        let mut samples = Vec::new();
        for piece in bytes.chunks(step) {
            samples.extend(reader.push(piece)?);
        }
        Ok((samples, reader.rate()))
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_samples(
            mut samples in prop::collection::vec(any::<i16>(), 2..50), step in 1_usize..9,
        ) {
            samples[0] = 7;
            let mut raw: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
            raw.push(1);
            prop_assert_eq!(read(&raw, step), Ok((samples.clone(), Some(SampleRate::HZ_24000))));
            let file = write_wav(&Clip { samples: samples.clone(), rate: SampleRate::HZ_16000 });
            prop_assert_eq!(read(&file, step), Ok((samples, Some(SampleRate::HZ_16000))));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), step in 1_usize..9) {
            let _ = read(&bytes, step);
        }
    }

    #[test]
    fn compressed_sound_is_named() {
        assert_eq!(read(b"OggS\0\x02\0\0", 3), Err(NotPcm::Compressed("Ogg")));
        assert_eq!(read(b"ID3\x04\0\0\0", 8), Err(NotPcm::Compressed("MP3")));
        assert_eq!(read(&[0xff, 0xfb, 0x90, 0x64, 0, 0], 8), Err(NotPcm::Compressed("MP3")));
        assert_eq!(
            read(&[0xff, 0xfb, 0xff, 0xfb], 1),
            Ok((vec![-1025, -1025], Some(SampleRate::HZ_24000)))
        );
        assert_eq!(read(b"", 1), Ok((vec![], None)));
    }
}

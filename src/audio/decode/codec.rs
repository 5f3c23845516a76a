//! Decodes packets of one stream from any container: [`Codec`].
//!
//! Checks a codec's allocations beforehand.

use symphonia::core::audio::{AudioBufferRef, SampleBuffer};
use symphonia::core::codecs::{
    CODEC_TYPE_AAC, CODEC_TYPE_ALAC, CODEC_TYPE_FLAC, CODEC_TYPE_MP3, CODEC_TYPE_VORBIS,
    CodecParameters, Decoder, DecoderOptions,
};
use symphonia::core::errors::{Error as SymphoniaError, Result as SymphoniaResult};
use symphonia::core::formats::Packet;
use symphonia::default::codecs::{AacDecoder, AlacDecoder, FlacDecoder, MpaDecoder, VorbisDecoder};

use super::{
    bytes::Bytes,
    codebooks::codebooks_fit,
    error::{DecodeError, damaged},
    mix::Output,
    opus::{OpusHead, OpusStream},
};
use crate::audio::pcm::to_usize;

/// Longest packet of Apple Lossless, in samples: sixteen times that of encoders.
const MAX_ALAC_SAMPLES: u32 = 65_536;

pub enum Codec {
    Opus(OpusStream),
    Other { decoder: Box<dyn Decoder>, trim: Trim },
}

impl Codec {
    pub fn opus(head: OpusHead) -> Result<Self, DecodeError> {
        Ok(Self::Opus(OpusStream::new(head)?))
    }

    pub fn new(kind: &'static str, parameters: &CodecParameters) -> Result<Self, DecodeError> {
        check(kind, parameters)?;
        let decoder = decoder(parameters).map_err(|e| wrap(kind, &e))?;
        Ok(Self::Other { decoder, trim: Trim::new(parameters) })
    }

    /// Decodes the next packet. A damaged one is a click, not the end. Fails if the sound is too
    /// long or its rate changes.
    pub fn decode(
        &mut self,
        kind: &'static str,
        packet: Packet,
        output: &mut Output,
    ) -> Result<(), DecodeError> {
        match self {
            Self::Opus(stream) => stream.decode(packet.buf(), u64::MAX, output).map(drop),
            Self::Other { decoder, trim } => match decoder.decode(&packet) {
                Ok(sound) => trim.collect(kind, sound, output),
                Err(_) => Ok(()),
            },
        }
    }
}

pub fn wrap(kind: &'static str, error: &SymphoniaError) -> DecodeError {
    match error {
        SymphoniaError::Unsupported(reason) => {
            DecodeError::Codec { kind, reason: (*reason).to_owned() }
        }
        _ => damaged(kind, &error.to_string()),
    }
}

/// Rejects parameters that would exhaust memory or make a decoder panic.
fn check(kind: &'static str, parameters: &CodecParameters) -> Result<(), DecodeError> {
    let header = parameters.extra_data.as_deref().unwrap_or_default();
    match parameters.codec {
        CODEC_TYPE_VORBIS if !codebooks_fit(header).unwrap_or(false) => {
            Err(damaged(kind, "vorbis: codebooks are broken or absurdly large"))
        }
        CODEC_TYPE_ALAC if Bytes(header).be_u32().is_none_or(|n| n > MAX_ALAC_SAMPLES) => {
            Err(damaged(kind, "alac: its header is broken or asks for absurdly much"))
        }
        _ => Ok(()),
    }
}

fn decoder(parameters: &CodecParameters) -> SymphoniaResult<Box<dyn Decoder>> {
    let options = DecoderOptions::default();
    Ok(match parameters.codec {
        CODEC_TYPE_AAC => Box::new(AacDecoder::try_new(parameters, &options)?),
        CODEC_TYPE_ALAC => Box::new(AlacDecoder::try_new(parameters, &options)?),
        CODEC_TYPE_FLAC => Box::new(FlacDecoder::try_new(parameters, &options)?),
        CODEC_TYPE_MP3 => Box::new(MpaDecoder::try_new(parameters, &options)?),
        CODEC_TYPE_VORBIS => Box::new(VorbisDecoder::try_new(parameters, &options)?),
        _ => return Err(SymphoniaError::Unsupported("its sound is in no encoding that is known")),
    })
}

/// Removes the encoder's padding.
pub struct Trim {
    /// Samples of each channel to drop.
    skip: usize,
    /// Samples of each channel to keep after that.
    keep: usize,
}

impl Trim {
    /// Trim declared by the container.
    fn new(parameters: &CodecParameters) -> Self {
        let delay = u64::from(parameters.delay.unwrap_or(0));
        let keep = match (parameters.n_frames, parameters.padding) {
            (Some(n), Some(padding)) => n.saturating_sub(delay + u64::from(padding)),
            _ => u64::MAX,
        };
        Self { skip: to_usize(delay), keep: to_usize(keep) }
    }

    fn collect(
        &mut self,
        kind: &'static str,
        sound: AudioBufferRef<'_>,
        output: &mut Output,
    ) -> Result<(), DecodeError> {
        let (spec, capacity) = (*sound.spec(), sound.capacity());
        let channels = spec.channels.count();
        let mut buffer = SampleBuffer::<f32>::new(u64::try_from(capacity).unwrap_or(0), spec);
        buffer.copy_interleaved_ref(sound);
        let n_sound = buffer.samples().len() / channels.max(1);
        let skip = self.skip.min(n_sound);
        let keep = self.keep.min(n_sound - skip);
        (self.skip, self.keep) = (self.skip - skip, self.keep - keep);
        let range = skip * channels..(skip + keep) * channels;
        output.take(kind, spec.rate, channels, buffer.samples().get(range).unwrap_or_default())
    }
}

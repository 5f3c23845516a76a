//! WAV of any rate, number of channels and kind of sample: [`decode_wav`].
//!
//! Finds the samples by our own scan of the header, because `symphonia` refuses recorders' remains
//! (lengths of 0, truncated files); the codec is its own. **Never** holds more than the header and
//! one packet.

use std::io::{BufReader, Read};

use symphonia::core::audio::{Channels, SampleBuffer, SignalSpec};
use symphonia::core::codecs::{self, CodecParameters, CodecType, Decoder, DecoderOptions};
use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::Packet;
use symphonia::default::codecs::PcmDecoder;

use super::{
    bytes::{Source, read_up_to},
    error::{DecodeError, damaged},
    mix::Output,
};
use crate::audio::wav::{WavData, WavError, scan_header};

/// Samples passed to the codec at once.
const PACKET_SAMPLES: u16 = 4_096;
/// Bytes first searched for the samples.
const FIRST_LOOK: usize = 4_096;
/// Most bytes before the samples: titles and a picture.
const MAX_HEADER: usize = 64 << 20;

pub fn decode_wav(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let mut source = BufReader::new(source);
    let (data, begun) = read_header(&mut source)?;
    let codec = wav_codec(&data)?;
    let hz = data.format.rate.hz();
    // Decoded as one interleaved channel: `symphonia` knows at most 26.
    let mut parameters = CodecParameters::new();
    parameters
        .for_codec(codec)
        .with_sample_rate(hz)
        .with_channels(Channels::FRONT_LEFT)
        .with_bits_per_coded_sample(u32::from(data.format.bits))
        .with_max_frames_per_packet(u64::from(PACKET_SAMPLES));
    let broken = |e: SymphoniaError| DecodeError::Damaged { kind: "WAV", reason: e.to_string() };
    let mut decoder =
        PcmDecoder::try_new(&parameters, &DecoderOptions::default()).map_err(broken)?;
    let spec = SignalSpec::new(hz, Channels::FRONT_LEFT);
    let mut buffer = SampleBuffer::<f32>::new(u64::from(PACKET_SAMPLES), spec);
    let sample_len = usize::from(data.format.bits / 8);
    let len = data.len.map_or(u64::MAX, |len| u64::try_from(len).unwrap_or(u64::MAX));
    let mut sound = begun.as_slice().chain(source).take(len);
    loop {
        let part = read_up_to(&mut sound, sample_len * usize::from(PACKET_SAMPLES))?;
        let n_samples = part.len() / sample_len;
        let Some(whole) = part.get(..n_samples * sample_len).filter(|whole| !whole.is_empty())
        else {
            return Ok(());
        };
        let packet = Packet::new_from_slice(0, 0, u64::try_from(n_samples).unwrap_or(0), whole);
        buffer.copy_interleaved_ref(decoder.decode(&packet).map_err(broken)?);
        output.take("WAV", hz, usize::from(data.format.channels), buffer.samples())?;
    }
}

/// Reads up to the samples; also returns those read with the header.
fn read_header(source: &mut impl Read) -> Result<(WavData, Vec<u8>), DecodeError> {
    let mut head = Vec::new();
    let mut look = FIRST_LOOK;
    loop {
        head.extend(read_up_to(source, look)?);
        if let Some(data) = scan_header(&head)? {
            let begun = head.get(data.start..).unwrap_or_default().to_vec();
            return Ok((data, begun));
        }
        // A short read: the file has ended.
        if head.len() < 2 * look - FIRST_LOOK {
            return Err(WavError::Truncated { len: head.len() }.into());
        }
        if head.len() > MAX_HEADER {
            return Err(damaged("WAV", "its samples do not begin"));
        }
        look *= 2;
    }
}

const fn wav_codec(data: &WavData) -> Result<CodecType, DecodeError> {
    match (data.format.tag, data.format.bits) {
        (1, 8) => Ok(codecs::CODEC_TYPE_PCM_U8),
        (1, 16) => Ok(codecs::CODEC_TYPE_PCM_S16LE),
        (1, 24) => Ok(codecs::CODEC_TYPE_PCM_S24LE),
        (1, 32) => Ok(codecs::CODEC_TYPE_PCM_S32LE),
        (3, 32) => Ok(codecs::CODEC_TYPE_PCM_F32LE),
        (3, 64) => Ok(codecs::CODEC_TYPE_PCM_F64LE),
        (6, 8) => Ok(codecs::CODEC_TYPE_PCM_ALAW),
        (7, 8) => Ok(codecs::CODEC_TYPE_PCM_MULAW),
        (tag, bits) => Err(DecodeError::Encoding { tag, bits }),
    }
}

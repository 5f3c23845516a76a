//! A sound file's bytes to a mono [`Clip`] at the file's own rate: [`decode`].
//!
//! WAV of any rate and number of channels (8 to 32-bit integers, floats, A-law, µ-law), Ogg Vorbis,
//! MP3. We find a WAV's samples ourselves, because `symphonia` refuses what recorders leave
//! behind (lengths of 0, files cut short) and its reader panics on 0 Hz; codecs and the other
//! two containers are its own. Its panics are caught, its allocations checked beforehand.
//!
//! **Never** panics, resamples, or reads a byte that it was not given.

mod compressed;
mod error;
mod mix;

use self::{error::DecodeError, mix::Mix};
use super::pcm::Clip;
use super::wav::{WavData, WavError, scan_header};
use symphonia::core::audio::{Channels, SampleBuffer, SignalSpec};
use symphonia::core::codecs::{self, CodecParameters, CodecType, Decoder, DecoderOptions};
use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::Packet;
use symphonia::default::codecs::PcmDecoder;

/// Samples handed to the codec at once.
const PACKET_SAMPLES: u16 = 4_096;

/// Decodes a whole file. `hint` is the file name's extension, if any ("mp3"): it only helps with
/// MP3s that start with something else.
///
/// A file that is cut short gives the sound there is.
///
/// # Errors
///
/// [`DecodeError`] with what is wrong and how to mend it.
pub fn decode(bytes: &[u8], hint: Option<&str>) -> Result<Clip, DecodeError> {
    let is_mp3 = hint.is_some_and(|h| h.trim_start_matches('.').eq_ignore_ascii_case("mp3"));
    match bytes {
        [] => Err(DecodeError::Empty),
        [b'R', b'I', b'F', b'F', ..] => decode_wav(bytes),
        [b'O', b'g', b'g', b'S', ..] => compressed::decode_ogg(bytes),
        // An MPEG audio frame starts with eleven set bits.
        [b'I', b'D', b'3', ..] | [0xFF, 0xE0..=0xFF, ..] => compressed::decode_mp3(bytes),
        _ => match other_kind(bytes) {
            Some(kind) => Err(DecodeError::Unsupported { kind }),
            None if is_mp3 => compressed::decode_mp3(bytes),
            None => Err(DecodeError::NotAudio {
                start: bytes.iter().take(4).copied().map(char::from).collect(),
            }),
        },
    }
}

/// Names well-known formats that we do not read, by their first bytes.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(usize, &[u8], &'static str); 7] = [
        (0, b"fLaC", "FLAC"),
        (0, b"RIFX", "big-endian WAV"),
        (0, b"RF64", "64-bit WAV"),
        (0, b"FORM", "AIFF"),
        (4, b"ftyp", "MP4 or M4A"),
        (0, b"\x1a\x45\xdf\xa3", "WebM or Matroska"),
        (0, b"#!AMR", "AMR"),
    ];
    let starts = |at: usize, magic| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    kinds.into_iter().find(|&(at, magic, _)| starts(at, magic)).map(|(_, _, kind)| kind)
}

/// WAV: our own header reader, the codec of `symphonia`.
fn decode_wav(bytes: &[u8]) -> Result<Clip, DecodeError> {
    let data = scan_header(bytes)?.ok_or(WavError::Truncated { len: bytes.len() })?;
    let codec = wav_codec(&data)?;
    let mut mix = Mix::new(data.format.rate.hz(), usize::from(data.format.channels))?;
    let sound = bytes.get(data.start..).unwrap_or_default();
    let sound = sound.get(..data.len.unwrap_or(sound.len())).unwrap_or(sound);

    // One interleaved stream is decoded as if it had one channel: `symphonia` knows 26 at most.
    let mut parameters = CodecParameters::new();
    parameters
        .for_codec(codec)
        .with_sample_rate(data.format.rate.hz())
        .with_channels(Channels::FRONT_LEFT)
        .with_bits_per_coded_sample(u32::from(data.format.bits))
        .with_max_frames_per_packet(u64::from(PACKET_SAMPLES));
    let damaged = |e: SymphoniaError| DecodeError::Damaged { kind: "WAV", reason: e.to_string() };
    let mut decoder =
        PcmDecoder::try_new(&parameters, &DecoderOptions::default()).map_err(damaged)?;
    let spec = SignalSpec::new(data.format.rate.hz(), Channels::FRONT_LEFT);
    let mut buffer = SampleBuffer::<f32>::new(u64::from(PACKET_SAMPLES), spec);
    let sample_len = usize::from(data.format.bits / 8);
    for part in sound.chunks(sample_len * usize::from(PACKET_SAMPLES)) {
        let whole = part.get(..part.len() / sample_len * sample_len).unwrap_or_default();
        let n_samples = u64::try_from(whole.len() / sample_len).unwrap_or(0);
        let packet = Packet::new_from_slice(0, 0, n_samples, whole);
        buffer.copy_interleaved_ref(decoder.decode(&packet).map_err(damaged)?);
        mix.push(buffer.samples())?;
    }
    mix.into_clip()
}

/// The codec for a WAV's encoding and bits.
fn wav_codec(data: &WavData) -> Result<CodecType, DecodeError> {
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

#[cfg(test)]
mod tests;

//! A sound file's bytes to a mono [`Clip`] at the file's own rate: [`decode`].
//!
//! WAV of any rate and number of channels (8 to 32-bit integers, floats, A-law, µ-law), Ogg Vorbis,
//! MP3. We find a WAV's samples ourselves, because `symphonia` refuses what recorders leave
//! behind (lengths of 0, files cut short) and its reader panics on 0 Hz; codecs and the other
//! two containers are its own. Its panics are caught, its allocations checked beforehand.
//!
//! **Never** panics, resamples, or reads a byte that it was not given.

mod compressed;

use super::pcm::{Clip, SampleRate, to_sample};
use super::wav::{WavData, WavError, scan_header};
use symphonia::core::audio::{Channels, SampleBuffer, SignalSpec};
use symphonia::core::codecs::{self, CodecParameters, CodecType, Decoder, DecoderOptions};
use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::Packet;
use symphonia::default::codecs::PcmDecoder;

/// Longest sound, in samples of all channels: 70 minutes of mono at 48 kHz, 400 MB decoded.
/// A few bytes of Vorbis can stand for hours.
const MAX_SAMPLES: usize = 200_000_000;

/// Rates of speech and music, in Hz.
const RATES: std::ops::RangeInclusive<u32> = 4_000..=768_000;

/// Samples handed to the codec at once.
const PACKET_SAMPLES: u16 = 4_096;

/// Why bytes are no sound.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// No bytes.
    #[error("the sound file is empty (record or export it again)")]
    Empty,
    /// Not a sound file that we know.
    #[error("not a sound file: it starts with {start:?} (give a WAV, Ogg Vorbis or MP3 file)")]
    NotAudio {
        /// The first bytes, printable ones as they are.
        start: String,
    },
    /// A sound file of another kind.
    #[error("cannot read \"{kind}\" (convert it to WAV, Ogg Vorbis or MP3)")]
    Unsupported {
        /// Its usual name.
        kind: &'static str,
    },
    /// The WAV's header is wrong.
    #[error(transparent)]
    Wav(#[from] WavError),
    /// A WAV with samples of a kind that nobody writes.
    #[error(
        "cannot read WAV samples of \"{bits}\" bits, encoding \"{tag}\" (export it again as 16-bit PCM)"
    )]
    Encoding {
        /// Encoding in the header.
        tag: u16,
        /// Bits a sample.
        bits: u16,
    },
    /// No rate of speech or music.
    #[error("a sample rate of \"{hz}\" Hz is absurd (export it again at 8000 to 48000 Hz)")]
    AbsurdRate {
        /// As in the file.
        hz: u32,
    },
    /// Header without sound.
    #[error("the sound file has a header but no samples (record or export it again)")]
    NoSamples,
    /// More than fits into memory sensibly.
    #[error("the sound is longer than \"{MAX_SAMPLES}\" samples (cut it into pieces)")]
    TooLong,
    /// Damaged beyond use.
    #[error("the {kind} file is damaged: {reason} (export it again)")]
    Damaged {
        /// Which container.
        kind: &'static str,
        /// What the codec said.
        reason: String,
    },
}

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

/// Collects interleaved samples (full scale 1.0) and mixes the channels down to one: their mean,
/// so that nothing clips.
struct Mix {
    /// Rate of the result.
    rate: SampleRate,
    /// How many interleaved samples make one.
    channels: usize,
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
    fn new(hz: u32, channels: usize) -> Result<Self, DecodeError> {
        let rate = SampleRate::new(hz).ok().filter(|rate| RATES.contains(&rate.hz()));
        let rate = rate.ok_or(DecodeError::AbsurdRate { hz })?;
        Ok(Self { rate, channels, sum: 0.0, n_summed: 0, n_seen: 0, samples: Vec::new() })
    }

    /// Mixes the next samples in.
    fn push(&mut self, interleaved: &[f32]) -> Result<(), DecodeError> {
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
    fn into_clip(self) -> Result<Clip, DecodeError> {
        if self.samples.is_empty() {
            return Err(DecodeError::NoSamples);
        }
        Ok(Clip { samples: self.samples, rate: self.rate })
    }
}

#[cfg(test)]
mod tests;

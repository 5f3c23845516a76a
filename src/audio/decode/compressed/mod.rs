//! Ogg Vorbis and MP3 through `symphonia`: [`decode_ogg`], [`decode_mp3`].
//!
//! **Never** lets its panics or its appetite for memory out: both occur with crafted files.

use super::{error::DecodeError, mix::Mix};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use symphonia::core::audio::{AudioBufferRef, SampleBuffer};
use symphonia::core::codecs::{CODEC_TYPE_VORBIS, CodecParameters, Decoder, DecoderOptions};
use symphonia::core::errors::{Error as SymphoniaError, Result as SymphoniaResult};
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::{
    BitReaderRtl, MediaSourceStream, MediaSourceStreamOptions, ReadBitsRtl, ReadOnlySource,
};
use symphonia::default::codecs::{MpaDecoder, VorbisDecoder};
use symphonia::default::formats::{MpaReader, OggReader};

use crate::audio::pcm::{Clip, to_usize};

/// Table entries of all codebooks of one Vorbis stream. Encoders' books have some ten thousand;
/// a crafted file can ask for terabytes.
const MAX_CODEBOOK_ENTRIES: u64 = 4_000_000;

/// Both identification and setup header of Vorbis start with a type byte and "vorbis"; the first
/// is 30 bytes long (Vorbis I specification, 4.2).
const VORBIS_SETUP_AT: usize = 30 + 7;

/// Ogg with Vorbis inside.
pub(super) fn decode_ogg(bytes: &[u8]) -> Result<Clip, DecodeError> {
    let kind = "Ogg";
    fenced(kind, || {
        // Opus may hide behind an Ogg page, and its header says so at a fixed place.
        if bytes.get(28..).is_some_and(|packet| packet.starts_with(b"OpusHead")) {
            return Err(DecodeError::Unsupported { kind: "Ogg Opus" });
        }
        let mut reader = OggReader::try_new(source(bytes.to_vec()), &FormatOptions::default())
            .map_err(|e| damaged(kind, &e))?;
        run(kind, &mut reader, |parameters| {
            let header = parameters.extra_data.as_deref().unwrap_or_default();
            if parameters.codec == CODEC_TYPE_VORBIS && !codebooks_fit(header).unwrap_or(false) {
                return Err(SymphoniaError::DecodeError(
                    "vorbis: codebooks are broken or absurdly large",
                ));
            }
            Ok(Box::new(VorbisDecoder::try_new(parameters, &DecoderOptions::default())?))
        })
    })
}

/// MP3, with or without tags before and in it.
pub(super) fn decode_mp3(bytes: &[u8]) -> Result<Clip, DecodeError> {
    let kind = "MP3";
    fenced(kind, || {
        let sound = bytes.get(id3_len(bytes)..).unwrap_or_default();
        let mut reader = MpaReader::try_new(source(sound.to_vec()), &FormatOptions::default())
            .map_err(|e| damaged(kind, &e))?;
        run(kind, &mut reader, |parameters| {
            Ok(Box::new(MpaDecoder::try_new(parameters, &DecoderOptions::default())?))
        })
    })
}

/// Runs `decode`, and makes a panic an error.
fn fenced(
    kind: &'static str,
    decode: impl FnOnce() -> Result<Clip, DecodeError>,
) -> Result<Clip, DecodeError> {
    // Nothing of `decode` is used after a panic, so nothing half-changed is seen.
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| {
        Err(DecodeError::Damaged { kind, reason: "its codec gave up".to_owned() })
    })
}

/// Not seekable on purpose: `symphonia` would guess an MP3's length, and cut there.
fn source(bytes: Vec<u8>) -> MediaSourceStream {
    let source = ReadOnlySource::new(Cursor::new(bytes));
    MediaSourceStream::new(Box::new(source), MediaSourceStreamOptions::default())
}

/// Wraps an error of `symphonia`.
fn damaged(kind: &'static str, error: &SymphoniaError) -> DecodeError {
    DecodeError::Damaged { kind, reason: error.to_string() }
}

/// Length of the ID3v2 tag (titles, pictures) before the first MPEG frame; 0 when there is none.
/// Its length has seven bits a byte (ID3v2.4, section 3.1).
fn id3_len(bytes: &[u8]) -> usize {
    match *bytes {
        [b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] => {
            let len = [a, b, c, d].iter().fold(0, |len, &b| len << 7 | u64::from(b & 0x7F));
            let footer = if flags & 0x10 == 0 { 0 } else { 10 };
            to_usize(10 + len + footer)
        }
        _ => 0,
    }
}

/// Decodes the first track to its end, or as far as it goes.
fn run(
    kind: &'static str,
    reader: &mut dyn FormatReader,
    new_decoder: impl Fn(&CodecParameters) -> SymphoniaResult<Box<dyn Decoder>>,
) -> Result<Clip, DecodeError> {
    let mut link = Link::open(kind, reader, &new_decoder)?;
    let mut mix = None;
    loop {
        let packet = match reader.next_packet() {
            Ok(packet) => packet,
            // Another stream follows in the same file, as radio recorders write.
            Err(SymphoniaError::ResetRequired) => {
                let Ok(next) = Link::open(kind, reader, &new_decoder) else { break };
                link = next;
                continue;
            }
            Err(_) => break,
        };
        if packet.track_id() != link.track {
            continue;
        }
        match link.decoder.decode(&packet) {
            Ok(sound) => link.trim.collect(kind, sound, &mut mix)?,
            // One damaged packet is a click, not the end.
            Err(SymphoniaError::DecodeError(_)) => {}
            Err(_) => break,
        }
    }
    mix.ok_or(DecodeError::NoSamples)?.into_clip()
}

/// One logical stream and its decoder.
struct Link {
    /// Its number in the container.
    track: u32,
    /// Keeps state from packet to packet.
    decoder: Box<dyn Decoder>,
    /// What to cut off.
    trim: Trim,
}

/// What of a stream is sound and not the encoder's padding.
struct Trim {
    /// Samples of each channel to drop.
    skip: usize,
    /// Samples of each channel to keep after that.
    keep: usize,
}

impl Link {
    /// Starts decoding the container's current stream.
    fn open(
        kind: &'static str,
        reader: &dyn FormatReader,
        new_decoder: impl Fn(&CodecParameters) -> SymphoniaResult<Box<dyn Decoder>>,
    ) -> Result<Self, DecodeError> {
        let track = reader.default_track().ok_or(DecodeError::NoSamples)?;
        let parameters = &track.codec_params;
        let decoder = new_decoder(parameters).map_err(|e| damaged(kind, &e))?;
        let delay = u64::from(parameters.delay.unwrap_or(0));
        let keep = match (parameters.n_frames, parameters.padding) {
            (Some(n), Some(padding)) => n.saturating_sub(delay + u64::from(padding)),
            _ => u64::MAX,
        };
        let trim = Trim { skip: to_usize(delay), keep: to_usize(keep) };
        Ok(Self { track: track.id, decoder, trim })
    }
}

impl Trim {
    /// Mixes a packet's sound in. A second stream must have the rate of the first.
    fn collect(
        &mut self,
        kind: &'static str,
        sound: AudioBufferRef<'_>,
        mix: &mut Option<Mix>,
    ) -> Result<(), DecodeError> {
        let (spec, capacity) = (*sound.spec(), sound.capacity());
        let channels = spec.channels.count();
        let mix = match mix {
            Some(mix) => mix,
            None => mix.insert(Mix::new(spec.rate, channels)?),
        };
        if mix.rate.hz() != spec.rate {
            let reason = "its sample rate changes".to_owned();
            return Err(DecodeError::Damaged { kind, reason });
        }
        mix.channels = channels;
        let mut buffer = SampleBuffer::<f32>::new(u64::try_from(capacity).unwrap_or(0), spec);
        buffer.copy_interleaved_ref(sound);
        let n_sound = buffer.samples().len() / channels;
        let skip = self.skip.min(n_sound);
        let keep = self.keep.min(n_sound - skip);
        (self.skip, self.keep) = (self.skip - skip, self.keep - keep);
        let range = skip * channels..(skip + keep) * channels;
        mix.push(buffer.samples().get(range).unwrap_or_default())
    }
}

/// Walks the codebooks at the start of a Vorbis setup header and adds their tables up; `None`
/// when the header is no header. Layout: Vorbis I specification, section 3.2.1.
fn codebooks_fit(headers: &[u8]) -> Option<bool> {
    let mut bits = BitReaderRtl::new(headers.get(VORBIS_SETUP_AT..)?);
    let n_books = bits.read_bits_leq32(8).ok()? + 1;
    let mut total = 0;
    for _ in 0..n_books {
        total += skip_codebook(&mut bits)?;
        if total > MAX_CODEBOOK_ENTRIES {
            return Some(false);
        }
    }
    Some(true)
}

/// Entries that decoding one codebook takes.
fn skip_codebook(bits: &mut BitReaderRtl<'_>) -> Option<u64> {
    let _sync = bits.read_bits_leq32(24).ok()?;
    let dimensions = u64::from(bits.read_bits_leq32(16).ok()?);
    let entries = bits.read_bits_leq32(24).ok()?;
    let size = u64::from(entries) * (dimensions + 1);
    // Too large to walk; the caller stops.
    if size > MAX_CODEBOOK_ENTRIES {
        return Some(size);
    }
    skip_codeword_lengths(bits, entries)?;
    let lookup = bits.read_bits_leq32(4).ok()?;
    if lookup == 0 {
        return Some(size);
    }
    bits.ignore_bits(64).ok()?;
    let value_bits = bits.read_bits_leq32(4).ok()? + 1;
    bits.ignore_bits(1).ok()?;
    let n_values = match lookup {
        1 => lattice_values(u64::from(entries), u32::try_from(dimensions).ok()?)?,
        _ => u64::from(entries) * dimensions,
    };
    bits.ignore_bits(u32::try_from(n_values * u64::from(value_bits)).ok()?).ok()?;
    Some(size)
}

/// Reads over the codeword lengths of one codebook.
fn skip_codeword_lengths(bits: &mut BitReaderRtl<'_>, entries: u32) -> Option<()> {
    if bits.read_bool().ok()? {
        bits.ignore_bits(5).ok()?;
        let mut entry = 0;
        // Every round reads a bit at least, so a row of zeros ends with the data.
        while entry < entries {
            let n_bits = 32 - (entries - entry).leading_zeros();
            entry += bits.read_bits_leq32(n_bits).ok()?;
        }
        return (entry == entries).then_some(());
    }
    let sparse = bits.read_bool().ok()?;
    for _ in 0..entries {
        if !sparse || bits.read_bool().ok()? {
            bits.ignore_bits(5).ok()?;
        }
    }
    Some(())
}

/// The greatest number whose power of `dimensions` is at most `entries`; `None` where the
/// codec's own search would overflow.
fn lattice_values(entries: u64, dimensions: u32) -> Option<u64> {
    if entries == 0 || dimensions == 0 {
        return None;
    }
    (1..=entries).take_while(|v| v.checked_pow(dimensions).is_some_and(|p| p <= entries)).last()
}

#[cfg(test)]
mod tests;

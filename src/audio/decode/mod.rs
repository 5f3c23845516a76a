//! Decodes a sound file to mono sound, piece by piece: [`decode`].
//!
//! WAV of any rate and number of channels, FLAC, MP3, AAC, M4A and MP4, Ogg and WebM or Matroska
//! with Opus or Vorbis. Codecs are those of `symphonia` and `libopus`; containers are read here
//! where a crafted file could make `symphonia` allocate any amount. **Never** panics, or keeps
//! sound.

mod bytes;
mod codebooks;
mod codec;
mod compressed;
mod error;
mod matroska;
mod mix;
mod mp4;
mod ogg;
mod opus;
mod wav;

use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub use self::error::DecodeError;
use self::{
    bytes::{Source, read_up_to},
    error::{MAX_SOUND, damaged},
    mix::{Output, RatedTaker, Taker},
};
use super::pcm::SampleRate;

/// Bytes needed to recognise a format.
const START: usize = 12;

/// Reads one format from its beginning.
type Reader = fn(Box<dyn Source>, &mut Output<'_>) -> Result<(), DecodeError>;

/// Decodes a whole file at `rate` (`None`: its own), passes the sound to `taker` and returns its
/// rate. `hint` is the file name's extension, if any ("mp3"); it only helps with MP3s that start
/// with something else. A truncated file yields the sound up to there. Takes a second for minutes
/// of sound: not for the runtime's threads. Errors explain the fix; an error of `taker` also ends
/// the decoding.
pub fn decode(
    source: impl Read + Seek + Send + Sync + 'static,
    hint: Option<&str>,
    rate: Option<SampleRate>,
    taker: Taker<'_>,
) -> Result<SampleRate, DecodeError> {
    decode_rated(source, hint, (rate, Some(MAX_SOUND)), &mut |_, piece| taker(piece))
}

/// Like [`decode`], but each piece has its own rate: for joining or playing files of any length.
pub fn decode_as_is(
    source: impl Read + Seek + Send + Sync + 'static,
    hint: Option<&str>,
    taker: RatedTaker<'_>,
) -> Result<(), DecodeError> {
    decode_rated(source, hint, (None, None), taker).map(drop)
}

/// Decodes pieces with their rate; rate and length may be bounded.
fn decode_rated(
    source: impl Read + Seek + Send + Sync + 'static,
    hint: Option<&str>,
    (rate, most): (Option<SampleRate>, Option<Duration>),
    taker: RatedTaker<'_>,
) -> Result<SampleRate, DecodeError> {
    let mut source: Box<dyn Source> = Box::new(source);
    let (kind, read) = reader(&mut source, hint)?;
    // After a panic only this error is used, so no half-changed state is seen.
    let decoded = catch_unwind(AssertUnwindSafe(|| {
        let mut output = Output::new(rate, most, taker);
        read(source, &mut output)?;
        output.finish()
    }));
    decoded.unwrap_or_else(|_| Err(damaged(kind, "its codec gave up")))
}

/// The format's name and reader; leaves `source` where the format begins.
fn reader(
    source: &mut Box<dyn Source>,
    hint: Option<&str>,
) -> Result<(&'static str, Reader), DecodeError> {
    let is_mp3 = hint.is_some_and(|h| h.trim_start_matches('.').eq_ignore_ascii_case("mp3"));
    let start = read_up_to(source, START)?;
    // Titles may precede MP3, AAC and, against its specification, FLAC.
    let titles = id3_len(&start);
    source.seek(SeekFrom::Start(titles))?;
    let first = if titles == 0 { start } else { read_up_to(source, START)? };
    source.seek(SeekFrom::Start(titles))?;
    Ok(match first.as_slice() {
        [] if titles == 0 => return Err(DecodeError::Empty),
        [b'R', b'I', b'F', b'F', ..] => ("WAV", wav::decode_wav as Reader),
        [b'O', b'g', b'g', b'S', ..] => ("Ogg", ogg::decode_ogg),
        [b'f', b'L', b'a', b'C', ..] => ("FLAC", compressed::decode_flac),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => ("MP4", mp4::decode_mp4),
        [0x1A, 0x45, 0xDF, 0xA3, ..] => ("Matroska", matroska::decode_matroska),
        // A frame starts with eleven set bits, or with twelve and no layer.
        [0xFF, second, ..] if second & 0xF6 == 0xF0 => ("AAC", compressed::decode_adts),
        [0xFF, 0xE0..=0xFF, ..] | [b'I', b'D', b'3', ..] => ("MP3", compressed::decode_mp3),
        other => match other_kind(other) {
            Some(kind) => return Err(DecodeError::Unsupported { kind }),
            None if is_mp3 || titles > 0 => ("MP3", compressed::decode_mp3),
            None => {
                let start = other.iter().take(4).copied().map(char::from).collect();
                return Err(DecodeError::NotAudio { start });
            }
        },
    })
}

/// Names known but unsupported formats by their first bytes.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &'static str); 6] = [
        (b"RIFX", "big-endian WAV"),
        (b"RF64", "64-bit WAV"),
        (b"FORM", "AIFF"),
        (b"caff", "CAF"),
        (b"#!AMR", "AMR"),
        (b"0&\xb2u", "WMA"),
    ];
    kinds.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| kind)
}

/// Length of the ID3v2 tag (titles, pictures) before the first frame; 0 without one. It has seven
/// bits per byte (ID3v2.4, section 3.1).
fn id3_len(start: &[u8]) -> u64 {
    match *start {
        [b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] => {
            let len = [a, b, c, d].iter().fold(0, |len, &b| len << 7 | u64::from(b & 0x7F));
            let footer = if flags & 0x10 == 0 { 0 } else { 10 };
            10 + len + footer
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests;

//! WebM and Matroska with Opus, Vorbis, AAC, FLAC or MP3 inside: [`decode_matroska`].
//!
//! Reads the elements itself, because `symphonia` allocates an element's declared size. **Never**
//! holds more than a block, or trusts a length.

mod lacing;
mod track;

#[cfg(test)]
mod tests;

use std::io::{BufReader, Read};

use symphonia::core::formats::Packet;

use self::{
    lacing::vint,
    track::{KIND, SoundTrack},
};
use super::{
    bytes::{Bytes, Source, read_up_to},
    codec::Codec,
    error::{DecodeError, damaged},
    mix::Output,
};
use crate::audio::pcm::to_usize;

/// Longest block, and longest description of tracks.
const MAX_ELEMENT: u64 = 4 << 20;

/// Contains all tracks and blocks; may be of unknown length.
const SEGMENT: u32 = 0x1853_8067;
/// Contains some seconds of blocks; may be of unknown length.
const CLUSTER: u32 = 0x1F43_B675;
const TRACKS: u32 = 0x1654_AE6B;
const BLOCK_GROUP: u32 = 0xA0;
const BLOCK: u32 = 0xA1;
const SIMPLE_BLOCK: u32 = 0xA3;

pub fn decode_matroska(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let mut source = BufReader::new(source);
    let mut sound: Option<(u64, Codec)> = None;
    while let Some((id, len)) = next_element(&mut source)? {
        match id {
            // Their child elements follow.
            SEGMENT | CLUSTER | BLOCK_GROUP => {}
            TRACKS => {
                let track = SoundTrack::find(&read_element(&mut source, len)?)?;
                sound = Some((track.number, track.codec()?));
            }
            BLOCK | SIMPLE_BLOCK => {
                let block = read_element(&mut source, len)?;
                let (number, codec) = sound.as_mut().ok_or_else(no_tracks)?;
                take_block(&block, *number, codec, output)?;
            }
            _ => skip(&mut source, len)?,
        }
    }
    sound.map(drop).ok_or_else(no_tracks)
}

/// A block, or the end, before any track description.
fn no_tracks() -> DecodeError {
    damaged(KIND, "it does not say what is in it")
}

/// Decodes the packets of a block, if it belongs to track `wanted`.
fn take_block(
    block: &[u8],
    wanted: u64,
    codec: &mut Codec,
    output: &mut Output,
) -> Result<(), DecodeError> {
    let mut fields = Bytes(block);
    let (Some(number), Some(_time), Some(flags)) =
        (vint(&mut fields), fields.be_u16(), fields.u8())
    else {
        return Ok(());
    };
    if number != Some(wanted) {
        return Ok(());
    }
    for packet in lacing::packets(flags, fields).unwrap_or_default() {
        codec.decode(KIND, Packet::new_from_slice(0, 0, 0, packet), output)?;
    }
    Ok(())
}

/// Id and length of the next element; `None` at the end. An unknown length is `None`.
fn next_element(
    source: &mut BufReader<Box<dyn Source>>,
) -> Result<Option<(u32, Option<u64>)>, DecodeError> {
    let Some((first, id)) = read_vint(source, 4)? else { return Ok(None) };
    let Some((marker, len)) = read_vint(source, 8)? else { return Ok(None) };
    let id = u32::try_from(id).map_err(|_| damaged(KIND, "an id in it is absurd"))?;
    let n_bytes = marker.leading_zeros() + 1;
    let value = len & ((1 << (7 * n_bytes)) - 1);
    let is_unknown = value == (1 << (7 * n_bytes)) - 1;
    debug_assert!(first.leading_zeros() < 4, "an id has four bytes at most");
    Ok(Some((id, (!is_unknown).then_some(value))))
}

/// A number whose first byte encodes its length, at most `most` bytes: the first byte, and the
/// value.
fn read_vint(source: &mut impl Read, most: u32) -> Result<Option<(u8, u64)>, DecodeError> {
    let Some(&first) = read_up_to(source, 1)?.first() else { return Ok(None) };
    let rest = first.leading_zeros();
    if rest >= most {
        return Err(damaged(KIND, "a length in it is absurd"));
    }
    let bytes = read_up_to(source, to_usize(rest.into()))?;
    if bytes.len() < to_usize(rest.into()) {
        return Ok(None);
    }
    let value = bytes.iter().fold(u64::from(first), |value, &byte| value << 8 | u64::from(byte));
    Ok(Some((first, value)))
}

/// The content of an element, as far as available.
fn read_element(
    source: &mut BufReader<Box<dyn Source>>,
    len: Option<u64>,
) -> Result<Vec<u8>, DecodeError> {
    match len.filter(|len| *len <= MAX_ELEMENT) {
        Some(len) => Ok(read_up_to(source, to_usize(len))?),
        None => Err(damaged(KIND, "an element in it is absurdly large")),
    }
}

/// Skips an element, even beyond the end.
fn skip(source: &mut BufReader<Box<dyn Source>>, len: Option<u64>) -> Result<(), DecodeError> {
    let step = len.and_then(|len| i64::try_from(len).ok());
    let step = step.ok_or_else(|| damaged(KIND, "an element in it has no length"))?;
    source.seek_relative(step).map_err(|_| damaged(KIND, "an element in it is absurdly large"))
}

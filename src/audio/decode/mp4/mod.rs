//! MP4 and M4A with AAC, Apple Lossless, Opus, FLAC or MP3 inside: [`decode_mp4`].
//!
//! Reads the boxes itself, because `symphonia` allocates a table's declared size. **Never** holds
//! more than the index and one packet. Fragmented files are not read.

mod entry;
mod samples;

#[cfg(test)]
mod tests;

use std::io::{BufReader, Seek, SeekFrom};

use symphonia::core::formats::Packet;

use self::{
    entry::{Boxes, KIND, broken, find},
    samples::Samples,
};
use super::{
    bytes::{Bytes, Source, read_up_to},
    error::{DecodeError, damaged},
    mix::Output,
};
use crate::audio::pcm::to_usize;

/// Longest index; an hour of AAC takes less than 1 MB.
const MAX_INDEX: u64 = 64 << 20;
const MAX_PACKET: u32 = 1 << 20;

pub fn decode_mp4(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let mut source = BufReader::new(source);
    let index = read_index(&mut source)?;
    let mut tracks = Boxes(Bytes(&index)).filter(|(kind, _)| *kind == b"trak");
    let table = tracks.find_map(|(_, track)| sound_table(track));
    let table = table.ok_or(DecodeError::NoSound { kind: KIND })?;
    let description = find(table, b"stsd").ok_or_else(|| broken("stsd"))?;
    let mut codec = entry::codec(description)?;
    let samples = Samples::read(table).ok_or_else(|| broken("stbl"))?;
    if samples.is_empty() && find(&index, b"mvex").is_some() {
        let reason = "its sound is in fragments".to_owned();
        return Err(DecodeError::Codec { kind: KIND, reason });
    }
    let len = length(&mut source)?;
    let mut to_read = len;
    for sample in samples.take_while(|sample| sample.at < len) {
        // More than the file's size: its packets overlap.
        let (false, Some(rest)) = (sample.len > MAX_PACKET, to_read.checked_sub(sample.len.into()))
        else {
            return Err(damaged(KIND, "its packets are absurdly large"));
        };
        to_read = rest;
        let packet = read_at(&mut source, sample.at, sample.len)?;
        if packet.len() < to_usize(sample.len.into()) {
            break;
        }
        codec.decode(KIND, Packet::new_from_boxed_slice(0, 0, 0, packet.into()), output)?;
    }
    Ok(())
}

fn length(source: &mut BufReader<Box<dyn Source>>) -> Result<u64, DecodeError> {
    Ok(source.seek(SeekFrom::End(0))?)
}

/// The bytes at an offset, as far as available.
fn read_at(
    source: &mut BufReader<Box<dyn Source>>,
    at: u64,
    len: u32,
) -> Result<Vec<u8>, DecodeError> {
    let here = source.stream_position()?;
    // Consecutive packets are in the buffer.
    match i64::try_from(i128::from(at) - i128::from(here)) {
        Ok(step) => source.seek_relative(step)?,
        Err(_) => return Ok(Vec::new()),
    }
    Ok(read_up_to(source, to_usize(len.into()))?)
}

/// The box with the index, at the beginning or at the end.
fn read_index(source: &mut BufReader<Box<dyn Source>>) -> Result<Vec<u8>, DecodeError> {
    loop {
        let header = read_up_to(source, 8)?;
        let mut fields = Bytes(&header);
        let (Some(len), Some(kind)) = (fields.be_u32(), fields.take(4)) else {
            return Err(damaged(KIND, "it has no index, so its recording was not finished"));
        };
        let len = match len {
            0 => u64::MAX,
            1 => Bytes(&read_up_to(source, 8)?).be_u64().unwrap_or(0).saturating_sub(16),
            len => u64::from(len).saturating_sub(8),
        };
        if kind == b"moov" {
            if len > MAX_INDEX && len < u64::MAX {
                return Err(damaged(KIND, "its index is absurdly large"));
            }
            return Ok(read_up_to(source, to_usize(len.min(MAX_INDEX)))?);
        }
        // At the end of the file or beyond: no further header.
        let step = i64::try_from(len).unwrap_or(i64::MAX / 2);
        if source.seek_relative(step).is_err() {
            return Err(damaged(KIND, "a box in it is absurdly large"));
        }
    }
}

/// The sample table, if it is a sound track.
fn sound_table(track: &[u8]) -> Option<&[u8]> {
    let media = find(track, b"mdia")?;
    let is_sound = find(media, b"hdlr")?.get(8..12)? == b"soun";
    find(find(media, b"minf")?, b"stbl").filter(|_| is_sound)
}

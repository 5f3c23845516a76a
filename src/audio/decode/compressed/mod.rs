//! Ogg Vorbis, FLAC, MP3 and AAC through `symphonia`: [`decode_ogg`] and its like.
//!
//! **Never** lets it read titles and pictures, for which it allocates whatever size they declare.

use std::io::{Cursor, Read, Seek, SeekFrom};

use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions, ReadOnlySource};
use symphonia::default::formats::{AdtsReader, FlacReader, MpaReader, OggReader};

use super::{
    bytes::{Bytes, Source, read_up_to},
    codec::{Codec, wrap},
    error::{DecodeError, damaged},
    mix::Output,
};

/// Bytes of FLAC's stream information (RFC 9639, section 8.2).
const STREAM_INFO: usize = 34;

pub fn decode_ogg(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let reader = OggReader::try_new(stream(source), &FormatOptions::default());
    run("Ogg", reader, output)
}

pub fn decode_mp3(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let reader = MpaReader::try_new(stream(source), &FormatOptions::default());
    run("MP3", reader, output)
}

/// AAC as frames with their own headers.
pub fn decode_adts(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let reader = AdtsReader::try_new(stream(source), &FormatOptions::default());
    run("AAC", reader, output)
}

/// Passes only the stream information of FLAC's header on.
pub fn decode_flac(mut source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let info = flac_info(&mut source)?;
    let mut start = b"fLaC\x80\0\0\x22".to_vec();
    start.extend_from_slice(&info);
    let reader =
        FlacReader::try_new(stream(Cursor::new(start).chain(source)), &FormatOptions::default());
    run("FLAC", reader, output)
}

/// Skips a FLAC file's header; returns the stream information.
fn flac_info(source: &mut Box<dyn Source>) -> Result<Vec<u8>, DecodeError> {
    let cut = || damaged("FLAC", "it ends inside its header");
    let mut info = None;
    source.seek_relative(4)?;
    loop {
        let header = read_up_to(source, 4)?;
        let header = Bytes(&header).be_u32().ok_or_else(cut)?;
        let (kind, len) = (header >> 24 & 0x7F, header & 0x00FF_FFFF);
        if kind == 0 && info.is_none() {
            let block = read_up_to(source, STREAM_INFO)?;
            if block.len() < STREAM_INFO || len < 34 {
                return Err(cut());
            }
            info = Some(block);
            source.seek(SeekFrom::Current(i64::from(len) - 34))?;
        } else {
            source.seek(SeekFrom::Current(i64::from(len)))?;
        }
        if header >> 31 == 1 {
            break;
        }
    }
    let info = info.ok_or_else(|| damaged("FLAC", "it does not say what its sound is"))?;
    // The rate has twenty bits from the eleventh byte on.
    match Bytes(info.get(10..).unwrap_or_default()).be_u32() {
        Some(rate) if rate >> 12 > 0 => Ok(info),
        _ => Err(DecodeError::AbsurdRate { hz: 0 }),
    }
}

/// Deliberately not seekable: `symphonia` would guess an MP3's length and cut there.
fn stream(source: impl Read + Send + Sync + 'static) -> MediaSourceStream {
    let source = ReadOnlySource::new(source);
    MediaSourceStream::new(Box::new(source), MediaSourceStreamOptions::default())
}

/// Decodes the first track as far as possible.
fn run(
    kind: &'static str,
    reader: Result<impl FormatReader, SymphoniaError>,
    output: &mut Output,
) -> Result<(), DecodeError> {
    let mut reader = reader.map_err(|e| wrap(kind, &e))?;
    let (mut track, mut codec) = open(kind, &reader)?;
    loop {
        match reader.next_packet() {
            Ok(packet) if packet.track_id() == track => codec.decode(kind, packet, output)?,
            Ok(_) => {}
            // Another stream follows in the same file, as radio recorders write.
            Err(SymphoniaError::ResetRequired) => match open(kind, &reader) {
                Ok(next) => (track, codec) = next,
                Err(_) => return Ok(()),
            },
            Err(_) => return Ok(()),
        }
    }
}

fn open(kind: &'static str, reader: &impl FormatReader) -> Result<(u32, Codec), DecodeError> {
    let track = reader.default_track().ok_or(DecodeError::NoSound { kind })?;
    Ok((track.id, Codec::new(kind, &track.codec_params)?))
}

#[cfg(test)]
mod tests;

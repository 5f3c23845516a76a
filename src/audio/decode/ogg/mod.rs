//! Ogg: Opus by our own page reader, anything else through `symphonia`: [`decode_ogg`].
//!
//! `symphonia` ignores Opus' gain and does not explain a bad header. **Never** holds more than a
//! page and a packet.

use std::io::{BufReader, ErrorKind, Read, Seek};

use super::{
    bytes::{Bytes, Source},
    compressed,
    error::DecodeError,
    mix::Output,
    opus::{OpusHead, OpusStream},
};

/// First bytes of every page.
const CAPTURE: &[u8; 4] = b"OggS";
/// Bytes of a page's header before its lengths.
const HEADER: usize = 27;
/// Longest stored packet: more than the longest of Opus (48 frames of 1,275 bytes).
const MAX_PACKET: usize = 65_536;
/// Granule position of a page on which no packet ends.
const NO_POSITION: u64 = u64::MAX;

/// A page that continues a packet.
const CONTINUES: u8 = 1;
const FIRST: u8 = 2;
const LAST: u8 = 4;

pub fn decode_ogg(source: Box<dyn Source>, output: &mut Output) -> Result<(), DecodeError> {
    let mut pages = Pages { source: BufReader::new(source), page: Vec::new() };
    let mut stream: Option<Stream> = None;
    let mut is_known = false;
    while let Some(page) = pages.next()? {
        if page.flags & FIRST != 0 {
            if page.body().starts_with(b"OpusHead") {
                stream = Some(Stream::new(page.serial, page.body())?);
                is_known = true;
            }
        } else if let Some(stream) = stream.as_mut().filter(|it| it.serial == page.serial) {
            stream.take(&page, output)?;
        } else if !is_known {
            // All streams begin before any continues, and none is Opus.
            break;
        }
    }
    if is_known {
        return Ok(());
    }
    let mut source = pages.source.into_inner();
    source.rewind()?;
    compressed::decode_ogg(source, output)
}

struct Pages {
    source: BufReader<Box<dyn Source>>,
    /// The last read page, with its header.
    page: Vec<u8>,
}

struct Page<'a> {
    flags: u8,
    /// Samples of its stream up to the end of its last complete packet.
    position: u64,
    serial: u32,
    /// Lengths of packet pieces; one of 255 continues in the next.
    lengths: &'a [u8],
    pieces: &'a [u8],
}

impl Page<'_> {
    const fn body(&self) -> &[u8] {
        self.pieces
    }
}

impl Pages {
    /// The next page with a correct checksum; `None` at the end.
    fn next(&mut self) -> Result<Option<Page<'_>>, DecodeError> {
        loop {
            match self.read() {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                // The file is cut off inside a page.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                Err(e) => return Err(e.into()),
            }
            if checksum(&self.page) == 0 {
                break;
            }
        }
        Ok(read_page(&self.page))
    }

    /// Reads a candidate page, prepared for its checksum; false if none.
    fn read(&mut self) -> std::io::Result<bool> {
        let mut n_same = 0;
        while let Some(&wanted) = CAPTURE.get(n_same) {
            let mut byte = [0];
            if self.source.read(&mut byte)? == 0 {
                return Ok(false);
            }
            n_same = match byte[0] {
                same if same == wanted => n_same + 1,
                b'O' => 1,
                _ => 0,
            };
        }
        self.page.clear();
        self.page.extend_from_slice(CAPTURE);
        self.extend(HEADER - CAPTURE.len())?;
        let n_pieces = self.page.last().copied().unwrap_or(0);
        self.extend(n_pieces.into())?;
        let lengths = self.page.get(HEADER..).unwrap_or_default();
        self.extend(lengths.iter().copied().map(usize::from).sum())?;
        Ok(true)
    }

    /// Reads `len` more bytes of the page.
    fn extend(&mut self, len: usize) -> std::io::Result<()> {
        let start = self.page.len();
        self.page.resize(start + len, 0);
        self.source.read_exact(self.page.get_mut(start..).unwrap_or_default())
    }
}

/// Parses a page; `None` if too short, which is impossible after its checksum.
fn read_page(page: &[u8]) -> Option<Page<'_>> {
    let mut fields = Bytes(page.get(CAPTURE.len() + 1..)?);
    let (flags, position, serial) = (fields.u8()?, fields.le_u64()?, fields.le_u32()?);
    let (_number, _checksum) = (fields.le_u32()?, fields.le_u32()?);
    let n_pieces = fields.u8()?;
    let lengths = fields.take(n_pieces.into())?;
    Some(Page { flags, position, serial, lengths, pieces: fields.0 })
}

/// Checksum of a page including its checksum: 0 if correct.
fn checksum(page: &[u8]) -> u32 {
    let stated = page.get(22..26).and_then(|it| it.first_chunk().copied());
    let stated = stated.map_or(0, u32::from_le_bytes);
    let of = |crc: u32, byte: u8| {
        let at = usize::from(crc.to_be_bytes()[0] ^ byte);
        crc << 8 ^ TABLE.get(at).copied().unwrap_or(0)
    };
    let counted = page.iter().enumerate();
    // It counts as 0.
    let counted = counted.map(|(at, &byte)| if (22..26).contains(&at) { 0 } else { byte });
    counted.fold(0, of) ^ stated
}

/// Remainders of single bytes for the polynomial of Ogg (RFC 3533, section 6).
const TABLE: [u32; 256] = {
    let mut table = [0_u32; 256];
    let mut at = 0_u32;
    while at < 256 {
        let (mut crc, mut bit) = (at << 24, 0);
        while bit < 8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ 0x04C1_1DB7 } else { crc << 1 };
            bit += 1;
        }
        #[expect(clippy::indexing_slicing, reason = "computed when it is compiled")]
        {
            table[at as usize] = crc;
        }
        at += 1;
    }
    table
};

/// An Opus stream and its incomplete packet.
struct Stream {
    serial: u32,
    opus: OpusStream,
    packet: Vec<u8>,
    /// The packet's beginning is lost.
    is_lost: bool,
    /// The second packet of a stream has titles, not sound.
    had_titles: bool,
    /// Samples so far, according to the last page.
    position: u64,
}

impl Stream {
    fn new(serial: u32, head: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self {
            serial,
            opus: OpusStream::new(OpusHead::read(head)?)?,
            packet: Vec::new(),
            is_lost: false,
            had_titles: false,
            position: 0,
        })
    }

    /// Decodes the packets that end on a page.
    fn take(&mut self, page: &Page<'_>, output: &mut Output) -> Result<(), DecodeError> {
        if page.flags & CONTINUES == 0 {
            self.packet.clear();
            self.is_lost = false;
        } else if self.packet.is_empty() {
            self.is_lost = true;
        }
        // The last page may end before its last packet does (RFC 7845, section 4.4).
        let room = page.position.checked_sub(self.position);
        let is_last = page.flags & LAST != 0 && page.position != NO_POSITION;
        let mut room = room.filter(|_| is_last).unwrap_or(u64::MAX);
        let mut pieces = Bytes(page.pieces);
        for &len in page.lengths {
            let piece = pieces.take(len.into()).unwrap_or_default();
            if self.packet.len() + piece.len() <= MAX_PACKET {
                self.packet.extend_from_slice(piece);
            } else {
                self.is_lost = true;
            }
            if len < 255 {
                room = room.saturating_sub(self.end_packet(room, output)?);
            }
        }
        if page.position != NO_POSITION {
            self.position = page.position;
        }
        Ok(())
    }

    /// Decodes the complete packet; returns its number of samples.
    fn end_packet(&mut self, room: u64, output: &mut Output) -> Result<u64, DecodeError> {
        let is_sound = self.had_titles && !self.is_lost;
        self.had_titles = true;
        self.is_lost = false;
        let n_decoded = if is_sound { self.opus.decode(&self.packet, room, output)? } else { 0 };
        self.packet.clear();
        Ok(n_decoded)
    }
}

#[cfg(test)]
mod tests;

//! Locations of a track's packets: [`Samples`].
//!
//! ISO/IEC 14496-12, section 8.7. **Never** trusts a count: tables end with their bytes.

use super::{super::bytes::Bytes, entry::find};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub at: u64,
    pub len: u32,
}

#[derive(Clone, Debug)]
pub struct Samples<'a> {
    lengths: Lengths<'a>,
    /// Offsets of the remaining chunks: four bytes each, or eight.
    chunks: Bytes<'a>,
    is_long: bool,
    /// First chunk and packets per chunk of each run, 12 bytes each.
    runs: Bytes<'a>,
    chunk: u32,
    in_chunk: u32,
    /// Remaining packets of the current chunk, and their offset.
    left: u32,
    at: u64,
}

#[derive(Clone, Debug)]
enum Lengths<'a> {
    /// All of one length.
    Same { len: u32, left: u32 },
    /// Four bytes each.
    Each(Bytes<'a>),
}

impl<'a> Samples<'a> {
    /// Reads the heads of a track's tables; `None` if one is missing.
    pub fn read(table: &'a [u8]) -> Option<Self> {
        let mut sizes = Bytes(find(table, b"stsz")?.get(4..)?);
        let (len, count) = (sizes.be_u32()?, sizes.be_u32()?);
        let lengths = match len {
            0 => Lengths::Each(entries(sizes, count, 4)),
            len => Lengths::Same { len, left: count },
        };
        let (chunks, is_long) = match find(table, b"stco") {
            Some(chunks) => (chunks, false),
            None => (find(table, b"co64")?, true),
        };
        let rows = |table: &'a [u8], width: usize| {
            let mut table = Bytes(table.get(4..)?);
            let count = table.be_u32()?;
            Some(entries(table, count, width))
        };
        Some(Self {
            lengths,
            chunks: rows(chunks, if is_long { 8 } else { 4 })?,
            is_long,
            runs: rows(find(table, b"stsc")?, 12)?,
            chunk: 1,
            in_chunk: 0,
            left: 0,
            at: 0,
        })
    }

    pub const fn is_empty(&self) -> bool {
        match &self.lengths {
            Lengths::Same { left, .. } => *left == 0,
            Lengths::Each(each) => each.0.is_empty(),
        }
    }

    fn next_chunk(&mut self) -> Option<()> {
        while self.left == 0 {
            let is_new_run = Bytes(self.runs.0).be_u32().is_some_and(|first| first <= self.chunk);
            if is_new_run {
                let (_, in_chunk) = (self.runs.be_u32()?, self.runs.be_u32()?);
                let _description = self.runs.be_u32()?;
                self.in_chunk = in_chunk;
                continue;
            }
            self.at = match self.is_long {
                true => self.chunks.be_u64()?,
                false => self.chunks.be_u32()?.into(),
            };
            self.left = self.in_chunk;
            self.chunk = self.chunk.saturating_add(1);
        }
        Some(())
    }
}

impl Iterator for Samples<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        let len = match &mut self.lengths {
            Lengths::Same { len, left } => {
                *left = left.checked_sub(1)?;
                *len
            }
            Lengths::Each(each) => each.be_u32()?,
        };
        self.next_chunk()?;
        self.left -= 1;
        let sample = Sample { at: self.at, len };
        self.at = self.at.saturating_add(len.into());
        Some(sample)
    }
}

/// The first `count` entries of `width` bytes each, as far as available.
fn entries(table: Bytes<'_>, count: u32, width: usize) -> Bytes<'_> {
    let stated = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(width);
    Bytes(table.0.get(..stated).unwrap_or(table.0))
}

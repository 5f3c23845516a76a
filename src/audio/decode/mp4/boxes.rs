//! The boxes that MP4 is made of: [`Boxes`].
//!
//! **Never** reads a file.

use super::super::{bytes::Bytes, error::DecodeError};
use crate::audio::pcm::to_usize;

/// Name of it in messages.
pub const KIND: &str = "MP4";

/// A box's content that cannot be.
pub fn broken(name: &str) -> DecodeError {
    DecodeError::Damaged { kind: KIND, reason: format!("its \"{name}\" is broken") }
}

/// The boxes one after the other: each one's kind and content. Ends where one is cut off.
#[derive(Clone, Copy)]
pub struct Boxes<'a>(pub Bytes<'a>);

impl<'a> Iterator for Boxes<'a> {
    type Item = (&'a [u8; 4], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let len = self.0.be_u32()?;
        let kind = self.0.take(4)?.first_chunk()?;
        let len = match len {
            0 => u64::try_from(self.0.0.len()).unwrap_or(u64::MAX),
            1 => self.0.be_u64()?.checked_sub(16)?,
            len => u64::from(len).checked_sub(8)?,
        };
        Some((kind, self.0.take(to_usize(len))?))
    }
}

/// The content of the first box of a kind.
pub fn find<'a>(boxes: &'a [u8], wanted: &[u8; 4]) -> Option<&'a [u8]> {
    Boxes(Bytes(boxes)).find(|(kind, _)| *kind == wanted).map(|(_, body)| body)
}

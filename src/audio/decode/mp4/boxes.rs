//! MP4's boxes: [`Boxes`].

use super::super::{bytes::Bytes, error::DecodeError};
use crate::audio::pcm::to_usize;

pub const KIND: &str = "MP4";

pub fn broken(name: &str) -> DecodeError {
    DecodeError::Damaged { kind: KIND, reason: format!("its \"{name}\" is broken") }
}

/// Consecutive boxes: kind and content. Ends at a truncated one.
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

pub fn find<'a>(boxes: &'a [u8], wanted: &[u8; 4]) -> Option<&'a [u8]> {
    Boxes(Bytes(boxes)).find(|(kind, _)| *kind == wanted).map(|(_, body)| body)
}

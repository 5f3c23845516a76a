//! Input of a decoder: [`Source`].

use std::io::{self, Read, Seek};

/// A file, or its bytes.
pub trait Source: Read + Seek + Send + Sync {}

impl<T: Read + Seek + Send + Sync> Source for T {}

/// The next `len` bytes, as far as available.
pub fn read_up_to(source: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(u64::try_from(len).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

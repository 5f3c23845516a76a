//! A reader with a limit: bounds an archive reader's input and so its memory.
//!
//! Entry type: [`Budgeted`].

use std::{
    cell::Cell,
    io::{self, Read, Seek, SeekFrom},
    rc::Rc,
};

pub struct Budgeted<R> {
    inner: R,
    left: Budget,
}

/// Bytes that may still be read; clones share it.
#[derive(Clone)]
pub struct Budget(Rc<Cell<u64>>);

impl Budget {
    pub fn new(bytes: u64) -> Self {
        Self(Rc::new(Cell::new(bytes)))
    }

    pub fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }

    pub fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl<R> Budgeted<R> {
    pub fn new(inner: R, left: Budget) -> Self {
        Self { inner, left }
    }
}

impl<R: Read> Read for Budgeted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.left.0.get();
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(into.len());
        let Some(into) = into.get_mut(..most) else { return Ok(0) };
        let read = self.inner.read(into)?;
        if read == 0 && left == 0 {
            return Err(io::Error::other("it exceeds the size limit of such packages"));
        }
        self.left.0.set(left.saturating_sub(read as u64));
        Ok(read)
    }
}

impl<R: Seek> Seek for Budgeted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

//! Paged lists of a server, within bounds. Keeps nothing of a list that is too long.

use std::io;

use serde::Serialize;

/// Most pages of one list.
pub const PAGES: usize = 50;
/// Most entries of one list.
pub const ENTRIES: usize = 2_000;
/// Most bytes of one list, as JSON.
pub const BYTES: usize = 8 * 1024 * 1024;

/// A list beyond a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooLong {
    #[error("the list has more than {PAGES} pages")]
    Pages,
    #[error("the list has more than {ENTRIES} entries")]
    Entries,
    #[error("the list is longer than {} MiB", BYTES >> 20)]
    Bytes,
    /// A cursor that repeats.
    #[error("the list repeats a page")]
    Circle,
}

pub struct Listing<T> {
    entries: Vec<T>,
    pages: usize,
    bytes: usize,
    cursor: Option<String>,
}

impl<T: Serialize> Listing<T> {
    pub fn new() -> Self {
        Self { entries: Vec::new(), pages: 0, bytes: 0, cursor: None }
    }

    /// Adds a page; true if another one follows.
    pub fn take(&mut self, page: Vec<T>, next: Option<String>) -> Result<bool, TooLong> {
        self.pages += 1;
        if self.entries.len() + page.len() > ENTRIES {
            return Err(TooLong::Entries);
        }
        let mut counted = Counted { bytes: self.bytes };
        for entry in &page {
            // The only possible error is the limit.
            serde_json::to_writer(&mut counted, entry).map_err(|_| TooLong::Bytes)?;
        }
        self.bytes = counted.bytes;
        self.entries.extend(page);
        if next.is_some() && self.pages == PAGES {
            return Err(TooLong::Pages);
        }
        if next.is_some() && next == self.cursor {
            return Err(TooLong::Circle);
        }
        self.cursor = next;
        Ok(self.cursor.is_some())
    }

    pub fn cursor(&self) -> Option<String> {
        self.cursor.clone()
    }

    /// All entries, and their size in bytes.
    pub fn whole(self) -> (Vec<T>, usize) {
        (self.entries, self.bytes)
    }
}

struct Counted {
    bytes: usize,
}

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        match self.bytes > BYTES {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(number: usize) -> Option<String> {
        Some(number.to_string())
    }

    #[test]
    fn lists_end() {
        let mut pages = Listing::new();
        let taken: Vec<_> = (0..60).map(|page| pages.take(vec![page], cursor(page))).collect();
        assert!(taken[..49].iter().all(|it| *it == Ok(true)));
        assert_eq!(taken[49], Err(TooLong::Pages));
        let mut many = Listing::new();
        assert_eq!(many.take(vec![0; 2_000], cursor(1)), Ok(true));
        assert_eq!(many.take(vec![0], None), Err(TooLong::Entries));
        let mut long = Listing::new();
        let megabyte = "x".repeat(1 << 20);
        let taken = (0..8).map(|page| long.take(vec![megabyte.clone()], cursor(page))).last();
        assert_eq!(taken, Some(Err(TooLong::Bytes)));
        let mut circle = Listing::new();
        assert_eq!(circle.take(vec![1], cursor(1)), Ok(true));
        assert_eq!(circle.take(vec![1], cursor(1)), Err(TooLong::Circle));
    }
}

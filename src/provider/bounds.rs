//! Bounds of what a service may answer, and an answer read within them.
//!
//! Entry types: [`Bound`], which messages quote; [`Body`], which collects an answer; [`Count`], which
//! counts one. Every client that reads text or JSON uses them. Sound is bounded by time instead.

use std::fmt;

use crate::domain::json_values;

/// A limit of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    most: usize,
    unit: &'static str,
    what: &'static str,
}

/// Text of a turn, in bytes.
pub const TURN_TEXT: Bound = Bound::kib(64, "text a turn");
/// Arguments of a call, in bytes.
pub const ARGUMENTS: Bound = Bound::kib(256, "arguments a call");
/// Calls of one answer.
pub const CALLS: Bound = Bound { most: 64, unit: "", what: "calls a round" };
/// A document of a stream, in bytes.
pub const EVENT: Bound = Bound::mib(1, "an event");
/// Text or JSON of an answer, in bytes.
pub const ANSWER: Bound = Bound::mib(8, "an answer");
/// Values in the JSON of an answer; each takes 72 bytes or more.
pub const VALUES: Bound = Bound { most: 100_000, unit: "", what: "values an answer" };
/// Values in the JSON of an answer with vectors, most of which are numbers.
pub const VECTOR_VALUES: Bound = Bound { most: 1 << 20, unit: "", what: "values an answer" };
/// A web page, in bytes, before and after it is unpacked.
pub const PAGE: Bound = Bound { most: 2_000_000, unit: "MB", what: "a page" };
/// A picture with what is around it in an answer, in bytes.
pub const PICTURE: Bound = Bound::mib(12, "a picture");
/// Messages of one utterance, whatever they say: a recogniser sends ten a second at most.
pub const EVENTS: Bound = Bound { most: 4_096, unit: "", what: "events an utterance" };
/// Ends of turn in one utterance; each may be answered and paid for.
pub const ENDS: Bound = Bound { most: 16, unit: "", what: "ends of turn an utterance" };
/// Partials of one utterance in bytes altogether, since each repeats the text so far. Half a minute of
/// speech takes a tenth of it.
pub const PARTIALS: Bound = Bound::mib(1, "the partials of an utterance");
/// The words of an error, in bytes; they are cut before they are searched or shown.
pub const ERROR_TEXT: usize = 2 << 10;

impl Bound {
    const fn kib(count: usize, what: &'static str) -> Self {
        Self { most: count << 10, unit: "KiB", what }
    }

    const fn mib(count: usize, what: &'static str) -> Self {
        Self { most: count << 20, unit: "MiB", what }
    }

    /// Greatest number of bytes or parts.
    pub const fn most(self) -> usize {
        self.most
    }

    /// Whether `json` has no more values than this, which is looked at before it is read.
    ///
    /// # Errors
    /// It has more.
    pub fn check_values(self, json: &[u8]) -> Result<(), Self> {
        self.check(json_values(json))
    }

    /// # Errors
    /// `size` is over it.
    pub const fn check(self, size: usize) -> Result<(), Self> {
        if size > self.most { Err(self) } else { Ok(()) }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            "KiB" => write!(f, "{} KiB of {}", self.most >> 10, self.what),
            "MiB" => write!(f, "{} MiB for {}", self.most >> 20, self.what),
            "MB" => write!(f, "{} MB for {}", self.most / 1_000_000, self.what),
            _ => write!(f, "{} {}", self.most, self.what),
        }
    }
}

/// The bytes of an answer so far, up to a bound.
#[derive(Debug)]
pub struct Body {
    /// Bytes received so far.
    pub bytes: Vec<u8>,
    bound: Bound,
}

impl Body {
    /// Nothing came yet.
    pub const fn within(bound: Bound) -> Self {
        Self { bytes: Vec::new(), bound }
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// The answer is over the bound.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Bound> {
        self.bound.check(self.bytes.len() + piece.len())?;
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

/// Number of events or bytes so far, up to a bound.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    so_far: usize,
    bound: Bound,
}

impl Count {
    /// Nothing came yet.
    pub const fn within(bound: Bound) -> Self {
        Self { so_far: 0, bound }
    }

    /// Counts `more`.
    ///
    /// # Errors
    /// The count is over the bound, and stays so.
    pub fn add(&mut self, more: usize) -> Result<(), Bound> {
        self.so_far = self.so_far.saturating_add(more);
        self.bound.check(self.so_far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_over_it_names_its_size() {
        assert_eq!(TURN_TEXT.check(64 << 10), Ok(()));
        assert_eq!(TURN_TEXT.check((64 << 10) + 1), Err(TURN_TEXT));
        assert_eq!(TURN_TEXT.to_string(), "64 KiB of text a turn");
        assert_eq!(CALLS.to_string(), "64 calls a round");
        assert_eq!(VALUES.to_string(), "100000 values an answer");
        let many = |count: usize| format!("[{}[]]", "[],".repeat(count - 2)).into_bytes();
        assert_eq!(VALUES.check_values(&many(40_000)), Ok(()));
        assert_eq!(VALUES.check_values(&many(100_000)), Err(VALUES));
        assert_eq!(EVENT.to_string(), "1 MiB for an event");
        assert_eq!(PAGE.to_string(), "2 MB for a page");
        let mut body = Body::within(ANSWER);
        assert_eq!(body.push(&vec![b' '; 8 << 20]), Ok(()));
        assert_eq!(body.push(b" "), Err(ANSWER));
    }

    #[test]
    fn count_over_its_bound_stays_over() {
        let mut ends = Count::within(ENDS);
        assert_eq!(ends.add(16), Ok(()));
        assert_eq!(ends.add(1), Err(ENDS));
        assert_eq!(ends.add(usize::MAX), Err(ENDS));
        assert_eq!(ENDS.to_string(), "16 ends of turn an utterance");
        assert_eq!(EVENTS.to_string(), "4096 events an utterance");
    }
}

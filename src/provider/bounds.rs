//! Bounds on answers of services, and readers that enforce them.
//!
//! Entry types: [`Bound`], quoted in messages; [`Body`], which collects an answer; [`Count`], which
//! counts one. Every client that reads text or JSON uses them. Sound is bounded by time instead.

use std::fmt;

use crate::domain::json_values;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    most: usize,
    unit: &'static str,
    what: &'static str,
}

/// Bytes.
pub const TURN_TEXT: Bound = Bound::kib(64, "text a turn");
/// Bytes.
pub const ARGUMENTS: Bound = Bound::kib(256, "arguments a call");
pub const CALLS: Bound = Bound { most: 64, unit: "", what: "calls a round" };
/// Bytes of one document of a stream.
pub const EVENT: Bound = Bound::mib(1, "an event");
/// Bytes of text or JSON.
pub const ANSWER: Bound = Bound::mib(8, "an answer");
/// JSON values; each takes at least 72 bytes of memory.
pub const VALUES: Bound = Bound { most: 100_000, unit: "", what: "values an answer" };
/// JSON values of an answer with vectors, mostly numbers.
pub const VECTOR_VALUES: Bound = Bound { most: 1 << 20, unit: "", what: "values an answer" };
/// Bytes, both compressed and decompressed.
pub const PAGE: Bound = Bound { most: 2_000_000, unit: "MB", what: "a page" };
/// Bytes of a picture and the JSON around it.
pub const PICTURE: Bound = Bound::mib(12, "a picture");
/// Messages of any kind: a recogniser sends at most ten a second.
pub const EVENTS: Bound = Bound { most: 4_096, unit: "", what: "events an utterance" };
/// Each end of turn may be answered and paid for.
pub const ENDS: Bound = Bound { most: 16, unit: "", what: "ends of turn an utterance" };
/// Bytes of all partials. Half a minute of speech takes a tenth of this.
pub const PARTIALS: Bound = Bound::mib(1, "the partials of an utterance");
/// Bytes of an error message, which is cut before it is searched or shown.
pub const ERROR_TEXT: usize = 2 << 10;

impl Bound {
    const fn kib(count: usize, what: &'static str) -> Self {
        Self { most: count << 10, unit: "KiB", what }
    }

    const fn mib(count: usize, what: &'static str) -> Self {
        Self { most: count << 20, unit: "MiB", what }
    }

    pub const fn most(self) -> usize {
        self.most
    }

    /// Counts the values of `json` before it is parsed.
    pub fn check_values(self, json: &[u8]) -> Result<(), Self> {
        self.check(json_values(json))
    }

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

#[derive(Debug)]
pub struct Body {
    pub bytes: Vec<u8>,
    bound: Bound,
}

impl Body {
    pub const fn within(bound: Bound) -> Self {
        Self { bytes: Vec::new(), bound }
    }

    /// Fails without adding `piece` if the answer would exceed the bound.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Bound> {
        self.bound.check(self.bytes.len() + piece.len())?;
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Count {
    so_far: usize,
    bound: Bound,
}

impl Count {
    pub const fn within(bound: Bound) -> Self {
        Self { so_far: 0, bound }
    }

    /// Fails once the count exceeds the bound, and on every later call.
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

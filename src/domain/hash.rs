//! A hash that is equal in every run, on every machine, in every release; and bytes as hexadecimal
//! digits.
//!
//! Entry items: [`fnv1a`], [`Fnv`], [`hex`]. The hash is not safe against deliberate collisions.

use std::{fmt::Write as _, hash::Hasher};

/// FNV-1a, 64 bit (<http://www.isthe.com/chongo/tech/comp/fnv/>), for maps with short keys that are
/// looked up for every word heard.
#[derive(Clone, Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(*byte));
    }
}

pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mut hash = Fnv::default();
    bytes.into_iter().for_each(|byte| hash.add(byte));
    hash.finish()
}

/// Lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

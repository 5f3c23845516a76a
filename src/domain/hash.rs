//! A hash that is the same in every run, on every machine, in every release.
//!
//! Entry function: [`fnv1a`]. **Never**: a safeguard against somebody who wants a clash.

/// FNV-1a, 64 bit (<http://www.isthe.com/chongo/tech/comp/fnv/>).
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

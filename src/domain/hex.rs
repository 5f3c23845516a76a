//! Bytes as people write hashes.
//!
//! Entry function: [`hex`].

use std::fmt::Write as _;

/// Two hexadecimal digits a byte, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

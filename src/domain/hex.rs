//! Bytes as hexadecimal digits.
//!
//! Entry function: [`hex`].

use std::fmt::Write as _;

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

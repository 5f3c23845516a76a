//! Text of Roll20: HTML, percent-encoded by some versions, with `%uXXXX` for what is beyond a byte.
//!
//! Entry functions: [`prose`], [`decoded`].

use crate::markup::{self, Prose};

/// Most bytes of a text that are read.
pub const TEXT_MAX: usize = 256 << 10;

/// Readable text of `html`, and whether its end was cut off.
pub fn prose(html: &str) -> (Prose, bool) {
    let taken = html.get(..html.floor_char_boundary(TEXT_MAX)).unwrap_or_default();
    (markup::prose(&decoded(taken)), taken.len() < html.len())
}

/// `text` as written, where it is percent-encoded as a whole; else `text` itself.
pub fn decoded(text: &str) -> String {
    if !is_encoded(text) {
        return text.to_owned();
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let (length, unit) = match (wide(from), narrow(from)) {
            (Some(high), _) => match from.get(6..).and_then(wide) {
                Some(low) if (0xd800..0xdc00).contains(&high) => (12, Unit::Wide(high, Some(low))),
                _ => (6, Unit::Wide(high, None)),
            },
            (None, Some(byte)) => (3, Unit::Byte(byte)),
            (None, None) => (1, Unit::Byte(b'%')),
        };
        match unit {
            Unit::Byte(byte) => bytes.push(byte),
            Unit::Wide(high, low) => {
                for c in char::decode_utf16([high].into_iter().chain(low)) {
                    let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
                    bytes.extend_from_slice(c.to_string().as_bytes());
                }
            }
        }
        rest = from.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    // JavaScript's `escape` writes bytes of Latin-1, `encodeURIComponent` those of UTF-8.
    String::from_utf8(bytes).unwrap_or_else(|error| latin(error.as_bytes()))
}

enum Unit {
    Byte(u8),
    Wide(u16, Option<u16>),
}

/// True if `text` begins with an encoded tag, or has encodings and neither blanks nor tags.
fn is_encoded(text: &str) -> bool {
    let text = text.trim_start();
    let begins = text.get(..3).is_some_and(|it| it.eq_ignore_ascii_case("%3c"));
    begins || (text.contains("%20") && !text.contains([' ', '<']))
}

fn narrow(from: &str) -> Option<u8> {
    let digits = from.get(1..3).filter(|it| it.chars().all(|c| c.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

fn wide(from: &str) -> Option<u16> {
    let digits = from.strip_prefix("%u").or_else(|| from.strip_prefix("%U"))?;
    let digits = digits.get(..4).filter(|it| it.chars().all(|c| c.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

/// Bytes as Latin-1 where they are no UTF-8.
fn latin(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn encoded_text_is_decoded() {
        let text = "%3Cp%3EHe%20lies%20%u2014%20caf%E9%20%uD83D%uDE00%3C/p%3E";
        assert_eq!(decoded(text), "<p>He lies — café 😀</p>");
        assert_eq!(decoded("%3Cp%3Ecaf%C3%A9%3C/p%3E"), "<p>café</p>");
        assert_eq!(decoded("Only 50%20 of <b>them</b>"), "Only 50%20 of <b>them</b>");
        assert_eq!(decoded("%3C100%zz%u12"), "<100%zz%u12");
    }

    proptest! {
        #[test]
        fn decoding_never_panics(text in "%3[cC][%uD83a-f0-9ä<]{0,60}") {
            decoded(&text);
        }
    }
}

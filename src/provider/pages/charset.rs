//! Bytes of a page to text, by byte order mark, header, `<meta>` and what is usual, in this order.
//!
//! Entry function: [`text_of`].

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes in which a page may name its encoding.
const PRESCAN: usize = 4_096;

/// `bytes` as text; `named` is the encoding of the header. What fits no encoding is replaced.
pub fn text_of(bytes: &[u8], named: Option<&str>) -> String {
    let labelled = |label: &str| Encoding::for_label(label.trim().as_bytes());
    let encoding =
        named.and_then(labelled).or_else(|| declared(bytes).and_then(|it| labelled(&it)));
    let usual = || if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
    // A byte order mark overrules what is named.
    let (text, _, _) = encoding.unwrap_or_else(usual).decode(bytes);
    text.into_owned()
}

/// The encoding that the first tags of a page name.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..PRESCAN).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let label = after(&head, "charset").or_else(|| after(&head, "encoding"))?;
    let label: String =
        label.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_:.".contains(*c)).collect();
    // Whoever could read that word did not read UTF-16.
    let wide = [UTF_16LE, UTF_16BE];
    match Encoding::for_label(label.as_bytes()) {
        Some(encoding) if wide.contains(&encoding) => Some("utf-8".to_owned()),
        _ => Some(label),
    }
}

/// What follows `word` and an equals sign, without its opening quote.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.match_indices(word).find_map(|(at, _)| {
        let rest = text.get(at + word.len()..)?.trim_start().strip_prefix('=')?;
        Some(rest.trim_start().trim_start_matches(['"', '\'']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names_the_encoding() {
        assert_eq!(text_of(b"caf\xe9", Some("windows-1252")), "café");
        assert_eq!(text_of(b"\x83h\x83\x89\x83S\x83\x93", Some("Shift_JIS")), "ドラゴン");
        assert_eq!(text_of(b"\x00h\x00i", Some("utf-16be")), "hi");
    }

    #[test]
    fn byte_order_mark_overrules_the_header() {
        assert_eq!(text_of(b"\xef\xbb\xbfcaf\xc3\xa9", Some("windows-1252")), "café");
        assert_eq!(text_of(b"\xff\xfeh\x00i\x00", None), "hi");
    }

    #[test]
    fn page_names_its_own_encoding() {
        let pages: [&[u8]; 4] = [
            b"<meta charset=windows-1252>caf\xe9",
            b"<META http-equiv=x content='text/html; charset = \"iso-8859-1\"'>caf\xe9",
            b"<?xml version='1.0' encoding='latin1'?>caf\xe9",
            b"<meta charset=utf-16>caf\xc3\xa9",
        ];
        for page in pages {
            assert!(text_of(page, None).ends_with("café"), "{page:?}");
        }
    }

    #[test]
    fn unnamed_encoding_is_the_usual_one() {
        assert_eq!(text_of("café".as_bytes(), Some("no-such")), "café");
        assert_eq!(text_of(b"caf\xe9", None), "café");
    }
}

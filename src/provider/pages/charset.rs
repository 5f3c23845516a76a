//! Decodes a page by byte order mark, header, `<meta>` or the usual encoding, in this order.
//!
//! Entry function: [`text_of`].

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes searched for an encoding.
const PRESCAN: usize = 4_096;

/// `named`: encoding of the header. `is_markup`: `bytes` may name their own. Replaces bytes outside
/// the encoding.
pub fn text_of(bytes: &[u8], named: Option<&str>, is_markup: bool) -> String {
    let named = named.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let encoding = named.or_else(|| is_markup.then(|| declared(bytes)).flatten());
    let usual = || if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
    // A byte order mark overrules declared encodings.
    let (text, _, _) = encoding.unwrap_or_else(usual).decode(bytes);
    text.into_owned()
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..PRESCAN).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let label = tags(&head, "<?xml")
        .find_map(|tag| after(tag, "encoding"))
        .or_else(|| tags(&head, "<meta").find_map(|tag| after(tag, "charset")))?;
    let label: String =
        label.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_:.".contains(*c)).collect();
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A declaration legible as ASCII rules out UTF-16.
    Some(if [UTF_16LE, UTF_16BE].contains(&encoding) { UTF_8 } else { encoding })
}

/// Tags of `text` with this beginning, perhaps truncated.
fn tags<'a>(text: &'a str, begins: &'static str) -> impl Iterator<Item = &'a str> {
    text.match_indices(begins).filter_map(move |(at, _)| {
        let rest = text.get(at + begins.len()..)?;
        let is_whole = rest.starts_with(|c: char| c.is_ascii_whitespace() || c == '/');
        is_whole.then(|| rest.split_once('>').map_or(rest, |(tag, _)| tag))
    })
}

/// Text after `word` and an equals sign, without its opening quote.
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
        assert_eq!(text_of(b"caf\xe9", Some("windows-1252"), true), "café");
        assert_eq!(text_of(b"\x83h\x83\x89\x83S\x83\x93", Some("Shift_JIS"), true), "ドラゴン");
        assert_eq!(text_of(b"\x00h\x00i", Some("utf-16be"), true), "hi");
    }

    #[test]
    fn byte_order_mark_overrules_the_header() {
        assert_eq!(text_of(b"\xef\xbb\xbfcaf\xc3\xa9", Some("windows-1252"), true), "café");
        assert_eq!(text_of(b"\xff\xfeh\x00i\x00", None, true), "hi");
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
            assert!(text_of(page, None, true).ends_with("café"), "{page:?}");
        }
    }

    #[test]
    fn words_of_a_page_name_no_encoding() {
        let utf8 = "<p>write charset=windows-1252 here: café</p>";
        assert_eq!(text_of(utf8.as_bytes(), None, true), utf8);
        let about = "<meta charset=windows-1252> is how it is written: café";
        assert_eq!(text_of(about.as_bytes(), None, false), about);
        let other = "<metadata charset=windows-1252>café";
        assert_eq!(text_of(other.as_bytes(), None, true), other);
    }

    #[test]
    fn unnamed_encoding_is_the_usual_one() {
        assert_eq!(text_of("café".as_bytes(), Some("no-such"), true), "café");
        assert_eq!(text_of(b"caf\xe9", None, true), "café");
    }
}

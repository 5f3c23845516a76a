//! Content of unknown files, by their bytes alone.
//!
//! Entry function: [`content`]. **Never**: looks at a file's name.

use serde_json::Value;

use super::{
    cards,
    refused::{Refused, by_bytes},
};
use crate::domain::json_values;

/// Most values of one JSON document, each of 72 bytes or more in memory.
const VALUES_MAX: usize = 1_000_000;
/// Begins a ZIP, or one without members.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

#[derive(Debug, PartialEq)]
pub enum Content<'a> {
    /// Nothing, `null`, or a list or an object without members.
    Empty,
    Card,
    Zip,
    Refused(&'static Refused),
    Json(Value),
    /// JSON documents, one a line.
    Lines(&'a str),
    BadJson(&'a str, BadJson),
    Text(&'a str),
    /// Text in another encoding: the line of the first byte that is no UTF-8.
    Encoding(usize),
}

#[derive(Debug, PartialEq, Eq)]
pub struct BadJson {
    /// "line 3, column 7".
    pub place: String,
    pub message: String,
}

pub fn content(bytes: &[u8]) -> Content<'_> {
    if bytes.trim_ascii().is_empty() {
        return Content::Empty;
    }
    if cards::is_card(bytes) {
        return Content::Card;
    }
    if ZIP.iter().any(|begin| bytes.starts_with(begin)) {
        return Content::Zip;
    }
    if let Some(refused) = by_bytes(bytes) {
        return Content::Refused(refused);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            return Content::Encoding(before.iter().filter(|byte| **byte == b'\n').count() + 1);
        }
    };
    match text.trim() {
        "" | "null" | "~" => Content::Empty,
        trimmed if trimmed.starts_with(['{', '[']) => json(text),
        _ => Content::Text(text),
    }
}

fn json(text: &str) -> Content<'_> {
    match document(text) {
        Ok(value) => match &value {
            Value::Array(items) if items.is_empty() => Content::Empty,
            Value::Object(members) if members.is_empty() => Content::Empty,
            _ => Content::Json(value),
        },
        Err(_) if is_lines(text) => Content::Lines(text),
        Err(error) => Content::BadJson(text, error),
    }
}

/// True if the first two lines that are not blank are JSON objects of their own.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut is_object =
        || lines.next().is_some_and(|line| document(line).is_ok_and(|it| it.is_object()));
    is_object() && is_object()
}

/// The JSON document in `text`.
pub fn document(text: &str) -> Result<Value, BadJson> {
    if json_values(text.as_bytes()) > VALUES_MAX {
        let message = format!("more than {VALUES_MAX} values");
        return Err(BadJson { place: String::new(), message });
    }
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_lowercase();
        let place = format!("line {}, column {}", error.line().max(1), error.column().max(1));
        BadJson { place, message: format!("not valid JSON: {message}") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archives::zipped;

    fn refused(bytes: &[u8]) -> &'static str {
        match content(bytes) {
            Content::Refused(refused) => refused.what,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_is_known_as_nothing() {
        for bytes in
            [&b""[..], b" \r\n", b"\xef\xbb\xbf", b"null", b"\xef\xbb\xbf[]\n", b"{ }", b"~"]
        {
            assert_eq!(content(bytes), Content::Empty, "{bytes:?}");
        }
    }

    #[test]
    fn kind_is_known_without_a_name() {
        assert_eq!(content(&zipped(&[("a.md", b"x")])), Content::Zip);
        assert_eq!(refused(b"%PDF-1.7"), "a PDF");
        assert_eq!(refused(b"\x89PNG\r\n\x1a\n"), "a picture without a character card");
        assert_eq!(refused(b"  <!DOCTYPE html><p>x"), "a web page");
        assert_eq!(content(b"{\"a\": 1}"), Content::Json(serde_json::json!({"a": 1})));
        let lines = "{\"a\": 1}\n\n{\"b\": 2}\n";
        assert_eq!(content(lines.as_bytes()), Content::Lines(lines));
        assert!(
            matches!(content(b"[[Inn]] is old"), Content::BadJson(text, _) if text.len() == 14)
        );
        assert_eq!(content(b"one\ntwo \xe9"), Content::Encoding(2));
    }

    #[test]
    fn deep_json_is_refused() {
        let deep = "[".repeat(100_000);
        assert!(matches!(content(deep.as_bytes()), Content::BadJson(..)));
        let many = format!("[{}1]", "1,".repeat(1_000_001));
        assert!(matches!(content(many.as_bytes()), Content::BadJson(..)));
    }
}

//! Start tags of HTML in a note that hide their element from players.
//!
//! Entry function: [`hidden`].

use super::{inline::cut, words::is_secret};
use crate::{
    import::elements,
    markup::{Piece, pieces},
};

/// Elements that any word in their start tag hides, even if the tag ends in a later line. Others are hidden
/// by attributes alone.
const ELEMENTS: &[&str] = &[
    "a",
    "article",
    "aside",
    "b",
    "blockquote",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "em",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "i",
    "li",
    "main",
    "mark",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "section",
    "small",
    "span",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "tr",
    "u",
    "ul",
];
/// Longest start tag of these, and longest end tag, in bytes.
pub const TAG_MAX: usize = 300;
/// Longest start tag of another element, in characters.
const OTHER_TAG_MAX: usize = 2_000;

/// Name and length of the start tag that `rest`, the rest of a line, begins with, if it hides its element.
/// `ahead`: `rest` and the lines after it.
pub fn hidden(rest: &str, ahead: &str) -> Option<(String, usize)> {
    let window = cut(rest, TAG_MAX);
    let (element, given) = elements::name(window.get(1..)?);
    let element = element.to_ascii_lowercase();
    if !ELEMENTS.contains(&element.as_str()) {
        let length = hidden_by_attributes(ahead)?;
        return Some((element, length.min(rest.len())));
    }
    let close = window.find('>');
    let end = close.map_or(window.len(), |at| at + 1);
    let goes_on = close.is_none() && window.len() == rest.len() && goes_on(given, &element);
    let written = window.get(..end)?;
    let tag: String = written.split_whitespace().collect();
    let tag = tag.to_ascii_lowercase();
    // Tags inside tags would be read again and again.
    let is_one = !written.get(1..).unwrap_or_default().contains('<');
    let hides = ["secret", "hidden", "display:none"].iter().any(|word| tag.contains(word))
        || goes_on
        || (is_one && is_secret(written));
    (hides && !tag.ends_with("/>")).then_some((element, end))
}

/// Length of the start tag that `ahead` begins with, which may go on in later lines, if its attributes hide
/// the element.
fn hidden_by_attributes(ahead: &str) -> Option<usize> {
    let (written, length) = whole_tag(ahead)?;
    let (_, given) = elements::name(written.get(1..)?);
    if !elements::has_attributes(given) {
        return None;
    }
    let Some(Piece::Open(tag)) = pieces(&written).next() else { return None };
    let hides = tag.is_hidden || tag.is_secret || is_secret(given);
    (hides && !tag.is_empty).then_some(length)
}

/// The start tag at the start of `ahead`, without the `>` of quotes before its lines, and its length in
/// `ahead`.
fn whole_tag(ahead: &str) -> Option<(String, usize)> {
    let mut written = String::new();
    let (mut quote, mut last, mut is_begin) = (None, '<', false);
    for (at, c) in ahead.char_indices().take(OTHER_TAG_MAX) {
        match (c, quote) {
            ('>', _) if is_begin => continue,
            (_, Some(mark)) => quote = (c != mark).then_some(mark),
            ('<', None) if at > 0 => return None,
            ('>', None) => {
                written.push(c);
                return Some((written, at + 1));
            }
            ('"' | '\'', None) if last == '=' => quote = Some(c),
            _ => {}
        }
        is_begin = c == '\n' || (is_begin && c.is_whitespace());
        if !c.is_whitespace() {
            last = c;
        }
        written.push(c);
    }
    None
}

/// True for a start tag that ends in a later line, where more attributes may follow. `given` follows the name
/// of `element`.
fn goes_on(given: &str, element: &str) -> bool {
    let given = given.trim();
    let has_attribute = given.starts_with(char::is_alphabetic) && given.contains('=');
    // "a <b" is no tag.
    element.len() > 1 && (given.is_empty() || has_attribute)
}

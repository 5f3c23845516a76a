//! Texts of cards as plain text: line ends, HTML, Markdown.
//!
//! Entry functions: [`tidy`], [`without_html`], [`plain`].

use crate::{domain::visible, import::elements, markup};

/// Elements of HTML that occur in cards; other angle brackets are text.
const ELEMENTS: &[&str] = &[
    "a",
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "details",
    "div",
    "em",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "html",
    "i",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "tr",
    "u",
    "ul",
    "script",
];

/// Text and what of it is secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub open: String,
    pub secret: String,
}

/// `text` with lines by `\n`, ordinary blanks, and without invisible characters.
pub fn tidy(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\u{a0}', " ");
    visible(&lines).trim().to_owned()
}

/// `text` without HTML, if it has any; its line ends stay.
pub fn without_html(text: &str) -> Told {
    // Text with only entities of HTML keeps its lines.
    if !text.contains('<') && text.contains('&') && text.contains(';') {
        let prose = markup::prose(text);
        return Told { open: prose.open, secret: prose.secret };
    }
    if !has_html(text) {
        return Told { open: text.to_owned(), secret: String::new() };
    }
    let prose = markup::prose(&with_breaks(text));
    Told { open: prose.open, secret: prose.secret }
}

/// True if an element of HTML or a comment begins in `text`.
fn has_html(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let after = text.get(at + 1..).unwrap_or_default();
        let (name, rest) = elements::name(after.trim_start_matches('/'));
        let is_known = ELEMENTS.iter().any(|element| name.eq_ignore_ascii_case(element));
        after.starts_with("!--")
            || (is_known && rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/')))
            || (!name.is_empty() && elements::has_attributes(rest))
    })
}

/// `text` whose lines end with an element too, except inside tags, which that would break.
fn with_breaks(text: &str) -> String {
    let mut broken = String::with_capacity(text.len());
    let (mut is_tag, mut quote, mut last) = (false, None, ' ');
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (_, Some(mark)) => quote = (c != mark).then_some(mark),
            ('<', None) if !is_tag => is_tag = begins_tag(text.get(at + 1..).unwrap_or_default()),
            ('>', None) => is_tag = false,
            ('"' | '\'', None) if is_tag && last == '=' => quote = Some(c),
            ('\n', None) if !is_tag => broken.push_str("<br>"),
            _ => {}
        }
        if !c.is_whitespace() {
            last = c;
        }
        broken.push(c);
    }
    broken
}

/// True if a tag goes on with `rest`, and ends before the next begins.
fn begins_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && rest.chars().find(|c| matches!(c, '<' | '>')) == Some('>')
}

/// `text` without the marks of Markdown: emphasis, headings, code, links (their labels stay) and pictures.
pub fn plain(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let is_blank = line.is_empty() && lines.last().is_none_or(String::is_empty);
        if !is_blank && !is_rule(line) {
            lines.push(without_marks(&without_heading(line).replace("~~", "")));
        }
    }
    lines.join("\n").trim().to_owned()
}

/// True for lines that only draw: rules, and the fences of code.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let is_drawn = |c: char| matches!(c, '-' | '*' | '_' | '=' | '~');
    line.starts_with("```") || (line.len() >= 3 && line.chars().all(is_drawn))
}

fn without_heading(line: &str) -> &str {
    let heading = line.trim_start_matches('#');
    let marks = line.len() - heading.len();
    if (1..=6).contains(&marks) && heading.starts_with(' ') { heading.trim() } else { line }
}

fn without_marks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    // "* " begins an item of a list.
    let mut rest = match line.trim_start().strip_prefix("* ") {
        Some(item) => {
            out.push_str("- ");
            item
        }
        None => line,
    };
    while let Some(at) = rest.find(['*', '_', '`', '[', '!']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (mark, after) = from.split_at(1);
        rest = after;
        match mark {
            "[" => match link(after) {
                Some((label, length)) => {
                    out.push_str(label);
                    rest = after.get(length..).unwrap_or_default();
                }
                None => out.push_str(mark),
            },
            "!" => match after.strip_prefix('[').and_then(link) {
                Some((_, length)) => rest = after.get(length + 1..).unwrap_or_default(),
                None => out.push_str(mark),
            },
            _ if is_mark(mark, &out, after) => {}
            _ => out.push_str(mark),
        }
    }
    out.push_str(rest);
    out
}

/// True if `mark` is at the edge of a word, as emphasis is; not in "2 * 3" and "snake_case".
fn is_mark(mark: &str, before: &str, after: &str) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let (before, next) = (before.chars().next_back(), after.chars().next());
    match mark {
        "*" => !(is_blank(before) && is_blank(next)),
        "_" => !(is_inside(before) && is_inside(next) || is_blank(before) && is_blank(next)),
        _ => true,
    }
}

/// Label and length of the link that `from`, which follows its bracket, begins with.
fn link(from: &str) -> Option<(&str, usize)> {
    let end = from.find(['[', ']'])?;
    let (label, after) = from.split_at(end);
    let address = after.strip_prefix("](")?;
    let length = address.find(['(', ')', ' '])?;
    address.get(length..)?.starts_with(')').then_some((label, end + 2 + length + 1))
}

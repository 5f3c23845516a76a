//! Mark-up within a line, as plain words.
//!
//! Entry functions: [`plain`], [`label`], [`tags`], [`cut`].

use percent_encoding::percent_decode_str;

use crate::markup;

/// Longest link, in bytes.
const LINK_MAX: usize = 600;
/// Longest label of a line, in bytes.
const LABEL_MAX: usize = 80;
/// Endings of files that are no notes.
const FILES: &[&str] = &[
    "base", "bmp", "canvas", "gif", "jpeg", "jpg", "m4a", "mp3", "mp4", "ogg", "pdf", "png", "svg",
    "wav", "webm", "webp",
];

/// A line as plain words.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// Without mark-up.
    pub text: String,
    pub secret: String,
    /// Notes it links to: a name or a path.
    pub links: Vec<String>,
    /// Embedded pictures, recordings and notes.
    pub embeds: usize,
    pub addresses: usize,
}

/// A label in front of a text: "**Home**: the inn".
#[derive(Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// Without mark-up and colon.
    pub name: String,
    pub value: &'a str,
    pub is_bold: bool,
    /// Followed by a colon.
    pub has_colon: bool,
}

pub fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}

pub fn plain(line: &str) -> Plain {
    let mut found = Plain::default();
    let prose;
    let mut rest = line;
    if has_html(line) {
        prose = markup::prose(line);
        found.secret = prose.secret;
        rest = &prose.open;
    }
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        let Some(link) = link(from) else {
            text.push_str(before);
            text.push('[');
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        rest = from.get(link.length..).unwrap_or_default();
        if let Some(before) = before.strip_suffix('!') {
            text.push_str(before);
            found.embeds += 1;
            continue;
        }
        text.push_str(before);
        text.push_str(link.words);
        match link.target {
            Target::Note(name) => found.links.push(name),
            Target::Address => found.addresses += 1,
            Target::Nothing => {}
        }
    }
    text.push_str(rest);
    found.text = without_emphasis(without_block_id(&text));
    found
}

/// A tag or a reference of HTML.
fn has_html(line: &str) -> bool {
    let mut pairs = line.as_bytes().windows(2);
    let tag = pairs.any(|two| two[0] == b'<' && (two[1].is_ascii_alphabetic() || two[1] == b'/'));
    tag || line.split('&').skip(1).any(|it| {
        cut(it, 12).split_once(';').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
        })
    })
}

struct Link<'a> {
    words: &'a str,
    target: Target,
    length: usize,
}

enum Target {
    Note(String),
    Address,
    /// The note itself, or a file.
    Nothing,
}

fn link(from: &str) -> Option<Link<'_>> {
    let window = cut(from, LINK_MAX);
    if let Some(inside) = window.strip_prefix("[[") {
        let end = inside.find("]]")?;
        let inside = inside.get(..end)?;
        let (to, label) = inside.split_once('|').map_or((inside, None), |(to, it)| (to, Some(it)));
        let to = to.trim_end_matches('\\').trim();
        let page = to.split(['#', '^']).next().unwrap_or_default().trim();
        let words = match label.map(str::trim).filter(|it| !it.is_empty()) {
            Some(label) => label,
            None if page.is_empty() => to.trim_start_matches(['#', '^']),
            None => stem(page),
        };
        return Some(Link { words, target: note(page), length: end + 4 });
    }
    let end = window.find("](")?;
    let words = window.get(1..end).filter(|it| !it.contains(['[', ']']))?;
    let target = window.get(end + 2..)?;
    let (target, length) = match target.strip_prefix('<') {
        Some(inside) => {
            let close = inside.find(">)")?;
            (inside.get(..close)?, end + 2 + 1 + close + 2)
        }
        None => {
            let close = target.find(')')?;
            let whole = target.get(..close)?;
            (whole.split(" \"").next().unwrap_or(whole), end + 2 + close + 1)
        }
    };
    let is_address = target.contains("://") || target.starts_with("mailto:");
    let target = if is_address {
        Target::Address
    } else {
        let path = percent_decode_str(target.trim()).decode_utf8_lossy().into_owned();
        note(path.split('#').next().unwrap_or_default())
    };
    Some(Link { words, target, length })
}

fn note(page: &str) -> Target {
    let ending = page.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_file = ending.is_some_and(|it| FILES.contains(&it.as_str()));
    if is_file || page.is_empty() { Target::Nothing } else { Target::Note(page.to_owned()) }
}

/// The name of a note without its folder and ending.
pub fn stem(path: &str) -> &str {
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let (name, ending) = last.rsplit_once('.').unwrap_or((last, ""));
    let is_note = ["md", "markdown", "txt"].iter().any(|it| ending.eq_ignore_ascii_case(it));
    if is_note { name } else { last }
}

/// `text` without a mark for links to its block (" ^a1b2c3").
fn without_block_id(text: &str) -> &str {
    match text.trim_end().rsplit_once(" ^") {
        Some((before, id))
            if !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') =>
        {
            before
        }
        _ => text,
    }
}

/// `text` without marks for bold, italic, struck and marked words.
pub fn without_emphasis(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        if !matches!(c, '*' | '_' | '~' | '=') {
            out.push(c);
            before = Some(c);
            continue;
        }
        let mut run = 1;
        while chars.next_if_eq(&c).is_some() {
            run += 1;
        }
        if !is_mark(c, run, before, chars.peek().copied()) {
            out.extend(std::iter::repeat_n(c, run));
            before = Some(c);
        }
    }
    out
}

/// True if a run of `c` between two characters is a mark, not text such as in `${A_B}` or 3 * 4.
fn is_mark(c: char, run: usize, before: Option<char>, after: Option<char>) -> bool {
    let fits = if matches!(c, '~' | '=') { run == 2 } else { run <= 3 };
    let opens = before.is_none_or(|it| it.is_whitespace() || "([\"'“„«—–-".contains(it))
        && after.is_some_and(|it| !it.is_whitespace());
    let closes = before.is_some_and(|it| !it.is_whitespace())
        && after.is_none_or(|it| it.is_whitespace() || ".,;:!?)]\"'”“»—–-…*_~=".contains(it));
    fits && (opens || closes)
}

/// The label of a line whose mark of a list is already gone.
pub fn label(text: &str) -> Option<Label<'_>> {
    let bare = text.trim_start_matches(['*', '_']);
    let marks = text.len() - bare.len();
    let window = cut(bare, LABEL_MAX);
    let (end, is_bold) = match text.chars().next() {
        Some(mark @ ('*' | '_')) if marks > 0 => (window.find(mark)?, true),
        _ => (window.find(':')?, false),
    };
    let (name, after) = (bare.get(..end)?, bare.get(end..)?.trim_start_matches(['*', '_']));
    let has_colon = name.trim_end().ends_with(':') || after.trim_start().starts_with(':');
    let name = name.trim_matches(['*', '_', ':', ' ', '\t']);
    let is_short = name.split_whitespace().count() <= 4 && !name.contains(['.', '[', ']']);
    if name.is_empty() || !(is_bold || is_short) {
        return None;
    }
    let value = after.trim_start().trim_start_matches(':').trim();
    Some(Label { name: name.to_owned(), value, is_bold, has_colon })
}

/// Tags in `line`, without their `#`.
pub fn tags(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace().filter_map(|word| {
        let tag = word.strip_prefix('#')?;
        let tag = tag.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_tag = tag.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && tag.chars().any(|c| !c.is_ascii_digit());
        is_tag.then_some(tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_words() {
        let line = "In [[places/Inn#Bar|the inn]] of [[Mill]], [old](../x/Old%20Mill.md) [web](https://a.b)";
        let found = plain(line);
        assert_eq!(found.text, "In the inn of Mill, old web");
        assert_eq!(found.links, ["places/Inn", "Mill", "../x/Old Mill.md"]);
        assert_eq!(found.addresses, 1);
        let found = plain("![[map.png]] A ![map](m.png) [[#Top]] [[a\\|b]] [x] [[open ^b-1");
        assert_eq!((found.text.as_str(), found.embeds), (" A  Top b [x] [[open", 2));
    }

    #[test]
    fn variables_keep_their_characters() {
        for text in ["${DISCORD_TOKEN}", "{dice} and {result_2}", "3 * 4", "a = b", "snake_case_x"]
        {
            assert_eq!(plain(text).text, text);
        }
        assert_eq!(plain("**Bold**, _it_ and ==mark== ~~gone~~").text, "Bold, it and mark gone");
    }

    #[test]
    fn labels_are_told_from_sentences() {
        let name = |text| label(text).map(|it| it.name);
        assert_eq!(name("**Full Name**: Davrith").as_deref(), Some("Full Name"));
        assert_eq!(name("**_GM Notes_:** x").as_deref(), Some("GM Notes"));
        assert_eq!(name("secret:: x").as_deref(), Some("secret"));
        assert_eq!(name("She said to all of them: go"), None);
    }
}

//! Lines of a note with its comments taken out: `%%…%%`, HTML comments, hidden elements, and fenced
//! blocks. Within a comment only its end counts, within a fence only the fence's end, and marks in code
//! spans do not count, as in Obsidian. Anything never closed is the game master's.
//!
//! Entry function: [`lines`]. Linear in the length of the text.

use std::collections::BTreeMap;

use super::{
    hidden::{TAG_MAX, hidden},
    inline::cut,
    words::is_secret,
};
use crate::import::elements;

/// A line of a note.
#[derive(Debug, PartialEq, Eq)]
pub enum NoteLine {
    /// To be read as Markdown.
    Text(String),
    /// Inside a fence, taken literally.
    Code(String),
    /// The game master's, with its kind.
    Secret(&'static str, String),
}

/// A whole note.
#[derive(Debug, Default)]
pub struct Lines {
    pub lines: Vec<NoteLine>,
    pub blocks: usize,
}

/// Lines of `body`, which end with `\n`.
pub fn lines(body: &str) -> Lines {
    let mut reader = Reader::default();
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let ahead = body.get(at..).unwrap_or_default();
        reader.line(line.strip_suffix('\n').unwrap_or(line), ahead);
        at += line.len();
    }
    if let Some(fence) = &reader.fence {
        for line in reader.found.lines.iter_mut().skip(fence.begins) {
            if let NoteLine::Code(text) = line {
                *line = NoteLine::Secret("block of code without an end", std::mem::take(text));
            }
        }
    }
    reader.found
}

/// Depth of quotes, at most `most`, and the text inside.
pub fn quote(line: &str, most: usize) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    while depth < most {
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let Some(inside) = trimmed.strip_prefix('>') else { break };
        rest = inside.strip_prefix(' ').unwrap_or(inside);
        depth += 1;
    }
    (depth, rest)
}

#[derive(Default)]
struct Reader {
    found: Lines,
    comment: Option<Comment>,
    fence: Option<Fence>,
}

enum Comment {
    Percent,
    Html,
    /// Name of the element, and how many of that name are open.
    Element(String, usize),
}

struct Fence {
    mark: char,
    length: usize,
    /// Depth of the quote around it.
    depth: usize,
    content: Content,
    /// Index of its first line among those found.
    begins: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Content {
    Text,
    Secret,
    Dropped,
}

impl Reader {
    /// Takes a line. `ahead`: the line and those after it.
    fn line(&mut self, line: &str, ahead: &str) {
        if self.comment.is_none() {
            if self.is_fenced(line) {
                return;
            }
            if let Some(fence) = opened(line, self.found.lines.len()) {
                self.found.blocks += usize::from(fence.content == Content::Dropped);
                self.fence = Some(fence);
                return;
            }
        }
        self.text(line, ahead);
    }

    /// True if a fence is open and `line` belongs to it.
    fn is_fenced(&mut self, line: &str) -> bool {
        let Some(fence) = &self.fence else { return false };
        let (depth, rest) = quote(line, fence.depth);
        if depth < fence.depth {
            self.fence = None;
            return false;
        }
        let bare = rest.trim();
        let is_end = bare.chars().count() >= fence.length && bare.chars().all(|c| c == fence.mark);
        match fence.content {
            _ if is_end => self.fence = None,
            Content::Text => self.found.lines.push(NoteLine::Code(line.to_owned())),
            Content::Secret => self.secret("admonition", rest),
            Content::Dropped => {}
        }
        true
    }

    fn secret(&mut self, kind: &'static str, text: &str) {
        if !text.trim().is_empty() {
            self.found.lines.push(NoteLine::Secret(kind, text.to_owned()));
        }
    }

    /// A line outside of fences.
    fn text(&mut self, line: &str, ahead: &str) {
        let runs = last_runs(line.as_bytes());
        let (mut open, mut at) = (String::new(), 0);
        let mut had_comment = self.comment.is_some();
        while at < line.len() {
            let rest = line.get(at..).unwrap_or_default();
            match self.comment.take() {
                Some(comment) => {
                    let kind = name(&comment);
                    match ended(rest, comment) {
                        End::At(from, to) => {
                            self.secret(kind, rest.get(..from).unwrap_or_default());
                            at += to;
                        }
                        End::Later(comment) => {
                            self.secret(kind, rest);
                            self.comment = Some(comment);
                            break;
                        }
                    }
                }
                None => match begun(line, at, &runs, ahead) {
                    Some((start, comment, length)) => {
                        open.push_str(line.get(at..start).unwrap_or_default());
                        (self.comment, had_comment) = (Some(comment), true);
                        at = start + length;
                    }
                    None => {
                        open.push_str(rest);
                        break;
                    }
                },
            }
        }
        // The rest of a line with only a comment separates no paragraphs.
        if !had_comment || !open.trim_matches(['>', ' ', '\t']).is_empty() {
            self.found.lines.push(NoteLine::Text(open));
        }
    }
}

const fn name(comment: &Comment) -> &'static str {
    match comment {
        Comment::Percent | Comment::Html => "comment",
        Comment::Element(..) => "hidden element",
    }
}

fn opened(line: &str, begins: usize) -> Option<Fence> {
    let (depth, rest) = quote(line, usize::MAX);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")).unwrap_or(rest).trim();
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    if length < 3 || info.contains('`') {
        return None;
    }
    let info = info.trim();
    let content = match info.strip_prefix("ad-") {
        Some(kind) if is_secret(kind) => Content::Secret,
        Some(_) => Content::Text,
        None if matches!(info, "" | "text" | "txt" | "md" | "markdown") => Content::Text,
        None => Content::Dropped,
    };
    Some(Fence { mark, length, depth, content, begins })
}

/// Length of a run of backticks -> start of the last run of that length.
fn last_runs(bytes: &[u8]) -> BTreeMap<usize, usize> {
    let (mut runs, mut at) = (BTreeMap::new(), 0);
    while at < bytes.len() {
        let length = run(bytes, at);
        if length > 0 {
            runs.insert(length, at);
        }
        at += length.max(1);
    }
    runs
}

fn run(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|byte| **byte == b'`').count()
}

/// End of the code span that a run of `length` backticks before `from` opens.
fn span_end(
    bytes: &[u8],
    from: usize,
    length: usize,
    runs: &BTreeMap<usize, usize>,
) -> Option<usize> {
    if runs.get(&length).is_none_or(|last| *last < from) {
        return None;
    }
    let mut at = from;
    while at < bytes.len() {
        let run = run(bytes, at);
        if run == length {
            return Some(at + run);
        }
        at += run.max(1);
    }
    None
}

/// First comment that begins at `from` or later: its place, kind, and the length of its beginning. `ahead`:
/// `line` and the lines after it.
fn begun(
    line: &str,
    from: usize,
    runs: &BTreeMap<usize, usize>,
    ahead: &str,
) -> Option<(usize, Comment, usize)> {
    let mut at = from;
    loop {
        at += line.get(at..)?.find(['`', '%', '<'])?;
        let rest = line.get(at..)?;
        if rest.starts_with('`') {
            let length = run(line.as_bytes(), at);
            at = span_end(line.as_bytes(), at + length, length, runs).unwrap_or(at + length);
        } else if rest.starts_with("%%") {
            return Some((at, Comment::Percent, 2));
        } else if rest.starts_with("<!--") {
            return Some((at, Comment::Html, 4));
        } else if let Some((element, length)) = hidden(rest, ahead.get(at..).unwrap_or_default()) {
            return Some((at, Comment::Element(element, 1), length));
        } else {
            at += 1;
        }
    }
}

enum End {
    /// Where the end begins, and what follows it.
    At(usize, usize),
    Later(Comment),
}

/// Where `comment` ends in `rest`.
fn ended(rest: &str, comment: Comment) -> End {
    let (element, mut open) = match comment {
        Comment::Element(element, open) => (element, open),
        Comment::Percent | Comment::Html => {
            let end = if matches!(comment, Comment::Percent) { "%%" } else { "-->" };
            return match rest.find(end) {
                Some(at) => End::At(at, at + end.len()),
                None => End::Later(comment),
            };
        }
    };
    for (at, _) in rest.match_indices('<') {
        let tag = rest.get(at..).unwrap_or_default();
        let after = tag.get(1..).unwrap_or_default();
        let end = after.strip_prefix('/');
        let (name, _) = elements::name(end.unwrap_or(after));
        if !name.eq_ignore_ascii_case(&element) {
            continue;
        }
        if end.is_none() {
            open += 1;
            continue;
        }
        open -= 1;
        if open == 0 {
            let window = cut(tag, TAG_MAX);
            return End::At(at, at + window.find('>').map_or(window.len(), |end| end + 1));
        }
    }
    End::Later(Comment::Element(element, open))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text that stays open, and what does not.
    fn parted(body: &str) -> (String, String) {
        let (mut open, mut secret) = (Vec::new(), Vec::new());
        for line in lines(body).lines {
            match line {
                NoteLine::Text(text) | NoteLine::Code(text) => open.push(text),
                NoteLine::Secret(_, text) => secret.push(text),
            }
        }
        (open.join("\n"), secret.join("\n"))
    }

    #[test]
    fn comments_are_taken_out() {
        for (body, open, secret) in [
            ("a %%b%% c", "a  c", "b"),
            ("a\n%%\nb\n\nc\n%%\nd", "a\nd", "b\nc"),
            ("a %%b", "a ", "b"),
            ("a <!-- b --> c <!--\nd\n--> e", "a  c \n e", " b \nd"),
            ("`%%` a %%b%%", "`%%` a ", "b"),
            ("``a`%%`` %%b%%", "``a`%%`` ", "b"),
            ("a\n> %%b%%\nc", "a\nc", "b"),
        ] {
            assert_eq!(parted(body), (open.to_owned(), secret.to_owned()), "{body}");
        }
    }

    #[test]
    fn marks_in_a_fence_open_no_comment() {
        let (open, secret) = parted("```mermaid\n%% draw\n```\na %%b%%\n```\n%%\n```\nc");
        assert_eq!((open.as_str(), secret.as_str()), ("a \n%%\nc", "b"));
        assert_eq!(parted("a\n```\nb").1, "b");
        assert_eq!(parted("```ad-dm\nb\n```\na"), ("a".to_owned(), "b".to_owned()));
        assert_eq!(parted("%%\n```\nb\n%%\na").0, "a");
    }

    #[test]
    fn hidden_elements_end_with_their_own_tag() {
        let body = "a<div class='secret'>\n<div>b</div>\nc\n</div>d";
        assert_eq!(parted(body), ("a\nd".to_owned(), "<div>b</div>\nc".to_owned()));
        assert_eq!(parted("<span style=\"display: none\">b</span>a").0, "a");
        assert_eq!(parted("<aside class=\"dm-only\">\nb\n</aside>\na").0, "a");
        assert_eq!(parted("<div\n  class=\"secret\">\nb\n</div>\na <td b").0, "a <td b");
        assert_eq!(parted("<ul><li hidden>\nb\n</li><li>a").0, "<ul>\n<li>a");
    }

    #[test]
    fn elements_of_any_name_are_hidden() {
        for (body, open) in [
            ("a<dialog class=secret>b</dialog>c", "ac"),
            ("a<dm-note hidden>\nb\n</dm-note>c", "a\nc"),
            ("a<x_note data-visibility='gm'>b</X_NOTE>c", "ac"),
            ("a<dialog\n  title=\"x > y\"\n  class=\"secret\">\nb\n</dialog>c", "a\nc"),
            ("> a<nav\n> id=x hidden>\n> b\n> </nav>c", "> a\nc"),
            ("a<abbr style='display:none'>b", "a"),
        ] {
            assert_eq!(parted(body).0, open, "{body}");
        }
        for body in [
            "The <secret door> opens.",
            "<img src=gm.png class=secret>a",
            "a <max and b = secret",
            "<old hidden door>",
            "<dialog open=true>a</dialog>",
        ] {
            assert_eq!(parted(body), (body.to_owned(), String::new()), "{body}");
        }
    }
}

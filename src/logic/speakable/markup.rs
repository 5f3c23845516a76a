//! Strips mark-up from text and keeps the words.
//!
//! Entry type: [`Stripper`].

use super::action::is_action;

/// Elements whose content is not for people.
const HIDDEN_TAGS: &[&str] = &[
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "tool",
    "tool_call",
    "tool_calls",
    "toolcall",
    "tool_use",
    "tool_response",
    "tool_result",
    "function",
    "function_call",
    "function_calls",
    "function_results",
    "invoke",
    "script",
    "style",
];
/// Sentences after which an unclosed direction is taken for speech.
const LONGEST_DIRECTION: u8 = 3;

#[derive(Clone, Debug)]
pub struct Stripper {
    pub link: &'static str,
    hidden: Option<Hidden>,
    /// Lines since it opened.
    age: u8,
    item: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hidden {
    Tag(String),
    Fence,
    /// JSON: open braces and brackets, and whether inside a string.
    Json(usize, bool),
    Until(char),
}

struct LineCursor<'t> {
    rest: &'t str,
    said: String,
    /// Open round brackets whose words are spoken.
    asides: usize,
}

impl Stripper {
    pub fn new(link: &'static str) -> Self {
        Self { link, hidden: None, age: 0, item: 0 }
    }

    /// The spoken text of a line. `numbered`: a number at its start may be a list marker.
    pub fn line(&mut self, line: &str, numbered: bool) -> String {
        let rest = match (&self.hidden, numbered) {
            (Some(_), _) => line,
            (None, true) => self.without_number(without_prefix(line)),
            (None, false) => without_prefix(line).trim_matches('|'),
        };
        let mut line = LineCursor { rest, said: String::with_capacity(rest.len()), asides: 0 };
        while !line.rest.is_empty() {
            match self.hidden.take() {
                Some(hidden) => self.hidden = skip_hidden(hidden, &mut line),
                None => self.step(&mut line),
            }
        }
        self.age = if self.hidden.is_some() { self.age.saturating_add(1) } else { 0 };
        if self.age >= LONGEST_DIRECTION && matches!(self.hidden, Some(Hidden::Until(_))) {
            self.hidden = None;
        }
        line.said
    }

    /// Removes the number of a list item. Lists count from 1; any other number is spoken ("14. I
    /// have seen better.").
    fn without_number<'t>(&mut self, line: &'t str) -> &'t str {
        let end = line.find(|c: char| !c.is_ascii_digit()).unwrap_or_default();
        let (digits, after) = line.split_at(end);
        let item = after.strip_prefix(". ").or_else(|| after.strip_prefix(") "));
        match (digits.parse(), item) {
            (Ok(number), Some(item)) if number == 1 || number == self.item.saturating_add(1) => {
                self.item = number;
                item.trim_start()
            }
            _ => line.trim_matches('|'),
        }
    }

    fn step(&mut self, line: &mut LineCursor<'_>) {
        let Some(c) = line.rest.chars().next() else { return };
        match c {
            '`' if line.rest.starts_with("```") => {
                line.skip(3);
                self.hidden = Some(Hidden::Fence);
            }
            '<' => self.tag(line),
            '{' if is_json(line.rest) => self.hidden = Some(Hidden::Json(0, false)),
            '[' if line.rest.starts_with("[{") => self.hidden = Some(Hidden::Json(0, false)),
            '!' if line.rest.starts_with("![") => {
                line.skip(1);
                if let Some((_, length)) = link(line.rest) {
                    line.skip(length);
                } else {
                    line.said.push('!');
                }
            }
            '[' => self.square(line),
            '(' if line.ends_call() => {
                line.skip(1);
                self.hidden = Some(Hidden::Until(')'));
                if is_json(line.rest.trim_start()) {
                    self.hidden = Some(Hidden::Json(0, false));
                }
            }
            '(' => self.round(line),
            ':' | ';' if line.skip_emoticon() => {}
            ')' if line.asides > 0 => {
                line.asides -= 1;
                line.skip(1);
                line.said.push_str(", ");
            }
            '*' | '_' => self.emphasis(c, line),
            'h' | 'H' | 'w' | 'W' if self.url(line) => {}
            '|' => {
                line.skip(1);
                line.said.push_str(", ");
            }
            '\\' => line.skip(1),
            '`' | '^' | '{' | '}' | '>' | ')' | ']' => line.skip(c.len_utf8()),
            c => {
                line.skip(c.len_utf8());
                line.say(c);
            }
        }
    }

    /// `<tag>`: hidden with its content if not for people.
    fn tag(&mut self, line: &mut LineCursor<'_>) {
        let Some(end) = line.rest.find('>') else { return line.skip(1) };
        let inner = line.rest.get(1..end).unwrap_or_default();
        let opens = inner.starts_with(|c: char| c.is_ascii_alphabetic());
        if !opens && !inner.starts_with(['/', '!', '|']) {
            return line.skip(1);
        }
        line.skip(end + 1);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = inner.find(|c| !is_name(c)).map_or(inner, |at| inner.split_at(at).0);
        let name = name.to_ascii_lowercase();
        if opens && !inner.ends_with('/') && HIDDEN_TAGS.contains(&name.as_str()) {
            self.hidden = Some(Hidden::Tag(name));
        } else if inner.starts_with("http") {
            line.say_all(self.link);
        }
    }

    /// `[text](url)` keeps its text; other square brackets are not spoken.
    fn square(&mut self, line: &mut LineCursor<'_>) {
        if let Some((text, length)) = link(line.rest) {
            let said = self.inside(text);
            line.skip(length);
            line.said.push_str(&said);
        } else if let Some(end) = line.rest.find(']') {
            line.skip(end + 1);
        } else {
            line.skip(1);
            self.hidden = Some(Hidden::Until(']'));
        }
    }

    /// `(sighs)` is not spoken; other asides are.
    fn round(&mut self, line: &mut LineCursor<'_>) {
        let inner = line.rest.get(1..).unwrap_or_default();
        let end = inner.find(')');
        let content = end.and_then(|end| inner.get(..end)).unwrap_or(inner);
        match (is_action(content), end) {
            (true, Some(end)) => line.skip(end + 2),
            (true, None) => {
                line.skip(1);
                self.hidden = Some(Hidden::Until(')'));
            }
            (false, _) => {
                line.skip(1);
                let call = line.said.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                line.said.push_str(if call { " " } else { ", " });
                line.asides += 1;
            }
        }
    }

    /// `*word*` is spoken, `*leans in*` is not.
    fn emphasis(&mut self, mark: char, line: &mut LineCursor<'_>) {
        let run = line.rest.len() - line.rest.trim_start_matches(mark).len();
        let inner = line.rest.get(run..).unwrap_or_default();
        let inside_word = mark == '_' && line.said.ends_with(char::is_alphanumeric);
        if inside_word || inner.starts_with(char::is_whitespace) || inner.is_empty() {
            line.skip(run);
            let digit = |c: char| c.is_ascii_digit();
            let product =
                line.said.trim_end().ends_with(digit) && inner.trim_start().starts_with(digit);
            return line.say(if product && run == 1 { '×' } else { ' ' });
        }
        let marks: String = std::iter::repeat_n(mark, run).collect();
        let Some(end) = inner.find(marks.as_str()).filter(|&end| end > 0) else {
            line.skip(run);
            if run == 1 && mark == '*' && line.at_clause() {
                self.hidden = Some(Hidden::Until('*'));
            }
            return;
        };
        let content = inner.get(..end).unwrap_or_default();
        let after = inner.get(end + run..).unwrap_or_default();
        if is_direction(content, run, line.at_clause(), after) {
            line.skip(run + end + run);
            return line.say(' ');
        }
        let said = self.inside(content);
        line.skip(run + end + run);
        line.said.push_str(&said);
    }

    fn url(&self, line: &mut LineCursor<'_>) -> bool {
        let lower = line.rest.get(..8).unwrap_or(line.rest).to_ascii_lowercase();
        let starts = ["http://", "https://", "www."].iter().any(|start| lower.starts_with(start));
        if !starts || line.said.ends_with(char::is_alphanumeric) {
            return false;
        }
        let stops = |c: char| c.is_whitespace() || matches!(c, '"' | '>' | ')' | ']' | '*' | '`');
        let whole = line.rest.find(stops).map_or(line.rest, |end| line.rest.split_at(end).0);
        let length = whole.trim_end_matches(['.', ',', '!', '?', ';', ':', '\'']).len();
        line.skip(length.max(1));
        line.say_all(self.link);
        true
    }

    fn inside(&self, text: &str) -> String {
        let mut inner = Self::new(self.link);
        let mut line =
            LineCursor { rest: text, said: String::with_capacity(text.len()), asides: 0 };
        while !line.rest.is_empty() {
            match inner.hidden.take() {
                Some(hidden) => inner.hidden = skip_hidden(hidden, &mut line),
                None => inner.step(&mut line),
            }
        }
        line.said
    }
}

impl LineCursor<'_> {
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Adds a character unless it is only visual.
    fn say(&mut self, c: char) {
        if c.is_control() || is_pictogram(c) || c == '\u{ad}' {
            self.said.push(' ');
        } else if !is_invisible(c) {
            self.said.push(c);
        }
    }

    fn say_all(&mut self, text: &str) {
        self.said.push_str(text);
    }

    /// True if the current bracket belongs to a call (`roll({…})`, `roll(expression=…)`); removes
    /// the call's name.
    fn ends_call(&mut self) -> bool {
        let inner = self.rest.get(1..).unwrap_or_default().trim_start();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let argument = inner.trim_start_matches(is_name);
        let named = argument.len() < inner.len() && argument.trim_start().starts_with('=');
        let json = inner.starts_with('{') && is_json(inner);
        let name = self.said.trim_end_matches(is_name).len();
        let call = (named || json) && name < self.said.len();
        if call {
            self.said.truncate(name);
        }
        call
    }

    /// Skips an emoticon such as `:)`.
    fn skip_emoticon(&mut self) -> bool {
        let free = self.said.is_empty() || self.said.ends_with(char::is_whitespace);
        let face = [":-)", ":)", ";-)", ";)", ":-(", ":(", ":D", ":P"]
            .iter()
            .find(|face| free && self.rest.starts_with(**face));
        self.skip(face.map_or(0, |face| face.len()));
        face.is_some()
    }

    fn at_clause(&self) -> bool {
        let before = self.said.trim_end().chars().next_back();
        before
            .is_none_or(|c| matches!(c, '.' | '!' | '?' | '…' | ',' | ';' | ':' | '"' | '”' | '—'))
    }
}

/// True if emphasised words are a stage direction. `run`: number of marks; `at_clause`: they begin
/// a clause.
fn is_direction(content: &str, run: usize, at_clause: bool, after: &str) -> bool {
    let words = content.split_whitespace().count();
    let lower = content.starts_with(char::is_lowercase);
    match (words, run) {
        (1, _) => at_clause && lower && is_action(content),
        (_, 1) if is_action(content) => true,
        // "*The barkeep wipes a mug.*" is a sentence; "*The Hobbit* is long" continues.
        (_, 1) => at_clause && !after.trim_start().starts_with(char::is_lowercase),
        _ => at_clause && lower && is_action(content),
    }
}

fn skip_hidden(hidden: Hidden, line: &mut LineCursor<'_>) -> Option<Hidden> {
    let end = match &hidden {
        Hidden::Tag(name) => find_close(line.rest, name),
        Hidden::Fence => line.rest.find("```").map(|at| at + 3),
        Hidden::Until(c) => line.rest.find(*c).map(|at| at + c.len_utf8()),
        Hidden::Json(depth, string) => match skip_json(line.rest, *depth, *string) {
            Ok(end) => Some(end),
            Err((depth, string)) => {
                line.rest = "";
                return Some(Hidden::Json(depth, string));
            }
        },
    };
    match end {
        Some(end) => {
            line.skip(end);
            None
        }
        None => {
            line.rest = "";
            Some(hidden)
        }
    }
}

/// The end of `</name>`, ignoring case.
fn find_close(text: &str, name: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let at = lower.find(&format!("</{name}"))?;
    let end = lower.get(at..)?.find('>')?;
    Some(at + end + 1)
}

/// The end of a JSON value, or its open depth and string state at the end of the text.
fn skip_json(text: &str, depth: usize, string: bool) -> Result<usize, (usize, bool)> {
    let (mut depth, mut string, mut escaped) = (depth, string, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if string => escaped = true,
            '"' => string = !string,
            '{' | '[' if !string => depth += 1,
            '}' | ']' if !string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !string {
            return Ok(at + c.len_utf8());
        }
    }
    Err((depth, string))
}

fn is_json(text: &str) -> bool {
    let inner = text.trim_start_matches('{').trim_start();
    inner.starts_with(['"', '}', '\'']) || inner.is_empty()
}

/// The text and length of `[text](url)` or `[text][reference]`.
fn link(text: &str) -> Option<(&str, usize)> {
    let end = text.find(']')?;
    let label = text.get(1..end)?;
    let after = text.get(end + 1..)?;
    let close = match after.chars().next()? {
        '(' => ')',
        '[' => ']',
        _ => return None,
    };
    let length = after.find(close)?;
    Some((label, end + 1 + length + 1))
}

/// A line without heading, quote or list marks; empty for rules.
fn without_prefix(line: &str) -> &str {
    let mut rest = line.trim();
    if !rest.is_empty()
        && rest.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | '|' | ':' | ' '))
    {
        return "";
    }
    rest = rest.trim_start_matches(['>', ' ']);
    let heading = rest.trim_start_matches('#');
    if heading.len() < rest.len() && heading.starts_with(' ') {
        return heading.trim().trim_end_matches('#');
    }
    for marker in ["- ", "* ", "+ ", "• ", "– ", "— "] {
        if let Some(item) = rest.strip_prefix(marker) {
            return item;
        }
    }
    rest
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{20e3}'
        | '\u{e0000}'..='\u{e007f}' | '\u{fffd}')
}

/// Emoji, arrows and other small pictures.
fn is_pictogram(c: char) -> bool {
    matches!(c,
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{25ff}'
        | '\u{2500}'..='\u{257f}' | '\u{e000}'..='\u{f8ff}')
}

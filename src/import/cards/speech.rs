//! The words of a greeting or an example that are said aloud, out of prose that also tells what happens.
//!
//! Entry function: [`spoken`]. Authors write one of two styles: what is said in quotation marks among
//! narration, or narration between asterisks among what is said.

use super::markdown::plain;

/// Quotation marks that open, and those that close what they open.
const QUOTES: &[(char, &[char])] =
    &[('"', &['"']), ('“', &['”', '"']), ('„', &['“', '”', '"']), ('«', &['»']), ('「', &['」'])];
/// Words outside quotes and asterisks that make these what is said.
const SAID_MIN: usize = 4;

/// The spoken words of `text` on one line; may be empty.
pub fn spoken(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| line.replace("**", "")).collect();
    let quotes: Vec<&str> = lines.iter().flat_map(|line| quotes(line)).collect();
    let unmarked: Vec<String> = lines.iter().map(|line| without_actions(line)).collect();
    let has_actions = lines.iter().zip(&unmarked).any(|(line, rest)| line.trim() != rest.trim());
    let outside: usize = unmarked.iter().map(|line| words_outside_quotes(line)).sum();
    let is_quoted = !(quotes.is_empty() || has_actions && outside >= SAID_MIN);
    let said = if is_quoted { quotes.join(" ") } else { unmarked.join("\n") };
    plain(&said).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Quotations of a line that are sentences: they end as one does. Others are names and emphasis.
fn quotes(line: &str) -> Vec<&str> {
    let is_end = |c: char| {
        matches!(c, '.' | ',' | '!' | '?' | '…' | '—' | '–' | '-' | '~' | '*' | '。' | '！' | '？')
    };
    spans(line)
        .into_iter()
        .filter_map(|(inside, is_closed)| {
            let inside = line.get(inside)?.trim();
            let is_said = inside.ends_with(is_end) || (!is_closed && inside.contains(' '));
            is_said.then_some(inside)
        })
        .collect()
}

/// Where quotations of a line are, and whether each is closed.
fn spans(line: &str) -> Vec<(std::ops::Range<usize>, bool)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, &[char])> = None;
    for (at, c) in line.char_indices() {
        match open {
            Some((start, closing)) if closing.contains(&c) => {
                found.push((start..at, true));
                open = None;
            }
            Some(_) => {}
            None => {
                let closing = QUOTES.iter().find(|(opening, _)| *opening == c);
                open = closing.map(|(_, closing)| (at + c.len_utf8(), *closing));
            }
        }
    }
    if let Some((start, _)) = open {
        found.push((start..line.len(), false));
    }
    found
}

/// Number of words of a line that no quotation holds.
fn words_outside_quotes(line: &str) -> usize {
    let mut words = 0;
    let mut from = 0;
    for (inside, _) in spans(line) {
        words += line.get(from..inside.start).map_or(0, words_in);
        from = inside.end;
    }
    words + line.get(from..).map_or(0, words_in)
}

fn words_in(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// A line without text between asterisks; single stressed words inside a sentence stay.
fn without_actions(line: &str) -> String {
    if let Some(item) = line.trim_start().strip_prefix("* ") {
        return item.to_owned();
    }
    let parts: Vec<&str> = line.split('*').collect();
    // An asterisk without a second one encloses nothing.
    let pairs = (parts.len() - 1) / 2 * 2;
    let mut out = String::with_capacity(line.len());
    let mut last = None;
    for (at, part) in parts.into_iter().enumerate() {
        let is_enclosed = at % 2 == 1 && at < pairs;
        let is_inside = last.is_some_and(|c| !matches!(c, '.' | '!' | '?' | '…' | '"' | '”'));
        let is_stressed = is_inside && !part.trim().contains(char::is_whitespace);
        if !is_enclosed || is_stressed {
            out.push_str(part);
            last = part.trim_end().chars().next_back().or(last);
        }
    }
    out
}

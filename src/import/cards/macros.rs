//! Placeholders that hosts of cards replace: the character, the player, and small functions.
//!
//! Entry type: [`Macros`]. Chance is decided here once, by the first choice, so that an import gives the same
//! text every time. A single brace, and `${NAME}`, stay what they are.

use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A model or the game master: players are spoken of.
    About,
    /// The player: they are spoken to, and no name is known yet.
    To,
}

/// Replaces placeholders of one character.
#[derive(Debug)]
pub struct Macros {
    character: String,
    unknown: BTreeSet<String>,
}

/// Most names of unknown functions that are reported.
const UNKNOWN_MAX: usize = 10;
/// Characters that a text may grow by, beyond twice its length.
const GROWTH: usize = 4096;

/// Bytes before a placeholder that tell how the player is spoken to.
const TAIL: usize = 200;

enum Marker<'t> {
    Character,
    Player,
    Function(&'t str),
}

impl Macros {
    pub fn new(character: &str) -> Self {
        Self { character: character.to_owned(), unknown: BTreeSet::new() }
    }

    /// Names of functions that were met and have no meaning here.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.unknown.iter().map(String::as_str)
    }

    /// `text` with its placeholders replaced. Functions may hold names, so these come first.
    pub fn filled(&mut self, text: &str, audience: Audience) -> String {
        let named = self.pass(text, audience, false);
        if named.contains("{{") { self.pass(&named, audience, true) } else { named }
    }

    /// One pass, of names or also of functions.
    fn pass(&mut self, text: &str, audience: Audience, functions: bool) -> String {
        let room = text.len().saturating_mul(2).saturating_add(GROWTH);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '<']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let Some((marker, length)) = marker(from) else {
                let (bracket, after) = from.split_at(1);
                out.push_str(bracket);
                rest = after;
                continue;
            };
            let (written, after) = from.split_at(length);
            rest = after;
            match marker {
                Marker::Player if audience == Audience::To => rest = address(&mut out, after),
                Marker::Player => out.push_str(about(&out)),
                Marker::Character if out.len() + self.character.len() <= room => {
                    out.push_str(&self.character);
                }
                Marker::Function(body) if functions => {
                    let text = self.evaluated(body);
                    out.push_str(&text);
                }
                Marker::Character | Marker::Function(_) => out.push_str(written),
            }
        }
        out.push_str(rest);
        out
    }

    /// The value of a function; unknown ones are empty and noted.
    fn evaluated(&mut self, body: &str) -> String {
        if body.starts_with("//") {
            return String::new();
        }
        let end = body.find(|c: char| c == ':' || c.is_whitespace()).unwrap_or(body.len());
        let (name, given) = body.split_at(end);
        let given = given.trim_start_matches([':', ' ']).trim();
        match name.to_lowercase().as_str() {
            "random" | "pick" => {
                let separator = if given.contains("::") { "::" } else { "," };
                given.split(separator).next().unwrap_or_default().trim().to_owned()
            }
            "roll" if given.chars().all(|c| c.is_ascii_digit()) => format!("d{given}"),
            "roll" => given.to_owned(),
            "reverse" => given.chars().rev().collect(),
            "newline" => "\n".to_owned(),
            "hidden_key" | "comment" | "noop" | "trim" | "original" => String::new(),
            _ => {
                if self.unknown.len() < UNKNOWN_MAX {
                    self.unknown.insert(crate::domain::one_line(name, 40));
                }
                String::new()
            }
        }
    }
}

/// The placeholder that `from` begins with, and its length. Looks no further than the next bracket, so that
/// a text of brackets takes linear time.
fn marker(from: &str) -> Option<(Marker<'_>, usize)> {
    if let Some(inside) = from.strip_prefix("{{") {
        let end = inside.find(['{', '}'])?;
        let (body, after) = inside.split_at(end);
        let is_closed = after.starts_with("}}");
        let body = body.trim();
        let is_function = body.starts_with("//") || body.starts_with(char::is_alphabetic);
        if !is_closed || !is_function {
            return None;
        }
        let marker = match body.to_lowercase().as_str() {
            "char" | "bot" => Marker::Character,
            "user" => Marker::Player,
            _ => Marker::Function(body),
        };
        return Some((marker, end + 4));
    }
    let inside = from.strip_prefix('<')?;
    let end = inside.find(['<', '>'])?;
    let (body, after) = inside.split_at(end);
    if !after.starts_with('>') {
        return None;
    }
    let marker = match body.trim().to_lowercase().as_str() {
        "bot" | "char" => Marker::Character,
        "user" => Marker::Player,
        _ => return None,
    };
    Some((marker, end + 2))
}

/// How the player is named after `before`.
fn about(before: &str) -> &'static str {
    if begins_sentence(before) { "The player" } else { "the player" }
}

fn begins_sentence(before: &str) -> bool {
    tail(before).trim_end_matches([' ', '*', '"', '“']).chars().next_back().is_none_or(is_end)
}

/// The last [`TAIL`] bytes of `text`, so that looking back takes constant time.
fn tail(text: &str) -> &str {
    let mut at = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    text.get(at..).unwrap_or_default()
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '\n')
}

/// Appends how the player is spoken to; a call by name is dropped. Gives what is left of `after`.
fn address<'t>(out: &mut String, after: &'t str) -> &'t str {
    let begins = begins_sentence(out);
    for ending in ["'s ", "’s "] {
        if let Some(rest) = after.strip_prefix(ending) {
            out.push_str(if begins { "Your " } else { "your " });
            return rest;
        }
    }
    let next = after.trim_start().chars().next();
    let end = tail(out);
    let before = end.trim_end();
    let is_closed = next.is_none_or(|c| is_end(c) || matches!(c, ',' | ';' | '"' | '”' | '*'));
    let sentence = before.rsplit(is_end).next().unwrap_or_default();
    let is_greeting = sentence.split_whitespace().count() <= 2;
    if is_closed && (before.ends_with(',') || (is_greeting && !begins)) {
        let dropped = end.len() - before.trim_end_matches(',').len();
        out.truncate(out.len() - dropped);
        return after;
    }
    if begins && next == Some(',') {
        return after.trim_start().trim_start_matches(',').trim_start();
    }
    out.push_str(if begins { "You" } else { "you" });
    after
}

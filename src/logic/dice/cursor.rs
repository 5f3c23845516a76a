//! The parser's position in the text, and its errors.
//!
//! Entry type: [`Parser`]; the other files add the grammar's rules to it.

use super::outcome::MAX_DEPTH;

/// A syntax error; [`super::hint`] turns it into a [`super::DiceError`].
#[derive(Debug)]
pub(super) struct Fault {
    /// Index of the first character, from 0.
    pub at: usize,
    /// Number of characters; 0 where something is missing.
    pub len: usize,
    pub message: String,
    /// A fix, where the parser knows better than the search for the nearest spelling.
    pub hint: Option<String>,
}

pub(super) type Parsed<T> = Result<T, Fault>;

pub(super) struct Parser<'a> {
    pub chars: &'a [char],
    pub at: usize,
    pub depth: usize,
}

impl Parser<'_> {
    /// The next character, normalised.
    pub fn peek(&self) -> Option<char> {
        self.peek_at(self.at)
    }

    pub fn peek_at(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied().map(plain)
    }

    pub fn blanks(&mut self) {
        self.at = self.after_blanks(self.at);
    }

    /// Index of the first character at or after `at` that is no blank.
    pub fn after_blanks(&self, at: usize) -> usize {
        at + self.chars.iter().skip(at).take_while(|c| c.is_whitespace()).count()
    }

    /// The letters from `at` on, in lower case.
    pub fn word_at(&self, at: usize) -> String {
        let letters = self.chars.iter().skip(at).take_while(|c| c.is_alphabetic());
        letters.flat_map(|c| c.to_lowercase()).collect()
    }

    pub fn digits_at(&self, at: usize) -> String {
        self.chars.iter().skip(at).take_while(|c| c.is_ascii_digit()).collect()
    }

    pub fn fault(&self, len: usize, message: impl Into<String>, hint: Option<&str>) -> Fault {
        Fault { at: self.at, len, message: message.into(), hint: hint.map(str::to_owned) }
    }

    pub fn missing(&self, message: &str, hint: Option<&str>) -> Fault {
        self.fault(0, message, hint)
    }

    pub fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("brackets or signs are nested deeper than {MAX_DEPTH}");
            return Err(self.fault(1, message, Some("take some away")));
        }
        Ok(())
    }
}

/// Replaces typographic characters by plain ones and capitals by small letters.
fn plain(c: char) -> char {
    match c {
        '\u{2212}' | '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' | '\u{ff0d}' => '-',
        '×' | '✕' | '∗' => '*',
        '÷' => '/',
        '＋' => '+',
        c => c.to_ascii_lowercase(),
    }
}

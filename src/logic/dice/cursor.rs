//! Position of the parser in the text, its view from there, and its errors.
//!
//! Entry type: [`Parser`]; the other files add the rules of the grammar to it.

use super::limits::MAX_DEPTH;

/// Text that the parser could not read; [`super::hint`] makes the error of it.
#[derive(Debug)]
pub(super) struct Fault {
    /// First character, from 0.
    pub at: usize,
    /// Number of characters meant; 0 where something is missing.
    pub len: usize,
    /// The mistake, in words.
    pub message: String,
    /// The way out, where the parser knows better than a search for the nearest spelling.
    pub hint: Option<String>,
}

/// A step's result.
pub(super) type Parsed<T> = Result<T, Fault>;

/// Position of the parser in the text.
pub(super) struct Parser<'a> {
    /// The whole text.
    pub chars: &'a [char],
    /// The next character.
    pub at: usize,
    /// Brackets and signs open now.
    pub depth: usize,
}

impl Parser<'_> {
    /// The next character in its plain form.
    pub fn peek(&self) -> Option<char> {
        self.peek_at(self.at)
    }

    /// Any character in its plain form.
    pub fn peek_at(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied().map(plain)
    }

    /// Steps over blanks.
    pub fn blanks(&mut self) {
        self.at = self.after_blanks(self.at);
    }

    /// The first place from `at` on that is no blank.
    pub fn after_blanks(&self, at: usize) -> usize {
        at + self.chars.iter().skip(at).take_while(|c| c.is_whitespace()).count()
    }

    /// The letters from `at` on, small.
    pub fn word_at(&self, at: usize) -> String {
        let letters = self.chars.iter().skip(at).take_while(|c| c.is_alphabetic());
        letters.flat_map(|c| c.to_lowercase()).collect()
    }

    /// The digits from `at` on.
    pub fn digits_at(&self, at: usize) -> String {
        self.chars.iter().skip(at).take_while(|c| c.is_ascii_digit()).collect()
    }

    /// A fault about the next `len` characters.
    pub fn fault(&self, len: usize, message: impl Into<String>, hint: Option<&str>) -> Fault {
        Fault { at: self.at, len, message: message.into(), hint: hint.map(str::to_owned) }
    }

    /// A fault about something that is not there.
    pub fn missing(&self, message: &str, hint: Option<&str>) -> Fault {
        self.fault(0, message, hint)
    }

    /// Enters a bracket or sign.
    pub fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("brackets or signs are nested deeper than {MAX_DEPTH}");
            return Err(self.fault(1, message, Some("take some away")));
        }
        Ok(())
    }
}

/// Typographic signs stand for the plain ones, capitals for small letters.
fn plain(c: char) -> char {
    match c {
        '\u{2212}' | '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' | '\u{ff0d}' => '-',
        '×' | '✕' | '∗' => '*',
        '÷' => '/',
        '＋' => '+',
        c => c.to_ascii_lowercase(),
    }
}

//! Decides whether punctuation ends a sentence, from the words around it.
//!
//! Entry functions: [`Kind::of`] reads the text before, [`verdict`] the text after.

use crate::logic::language::is_any;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Clear,
    /// Ends the sentence even without a space after it (full-width marks).
    FullWidth,
    /// At the end of a bracket inside a sentence.
    Bracketed,
    Number,
    /// After a German number, perhaps an ordinal.
    GermanNumber,
    /// After a number at the beginning of the text: a list marker.
    ListMarker,
    Initial,
    /// After an abbreviation that ends no sentence.
    Abbreviation,
    /// After an abbreviation that may end a sentence.
    Either,
    Ellipsis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    End,
    Go,
    Wait,
}

pub fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '‽' | '。' | '！' | '？' | '؟')
}

impl Kind {
    pub fn of(before: &str, run: &str, german: bool) -> Self {
        if run.ends_with(['。', '！', '？']) {
            return Self::FullWidth;
        }
        if run.chars().any(|c| !matches!(c, '.' | '…')) {
            return Self::Clear;
        }
        if run != "." {
            return Self::Ellipsis;
        }
        let (earlier, token) = last_token(before);
        if token.starts_with(|c: char| c.is_ascii_digit())
            && token.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '\''))
        {
            return match (earlier.contains(char::is_alphanumeric), german) {
                (false, _) => Self::ListMarker,
                (true, true) if token.len() <= 2 => Self::GermanNumber,
                (true, _) => Self::Number,
            };
        }
        Self::of_word(earlier, token, german)
    }

    fn of_word(earlier: &str, token: &str, german: bool) -> Self {
        let mut letters = token.chars();
        if let (Some(letter), None) = (letters.next(), letters.next())
            && letter.is_alphabetic()
        {
            // "So do I." is a sentence; "J." is an initial.
            let pronoun = letter == 'I' && !german && earlier.contains(char::is_alphanumeric);
            return if pronoun { Self::Clear } else { Self::Initial };
        }
        if token.len() > 12 {
            return Self::Clear;
        }
        let lower = token.to_lowercase();
        if is_any(|it| it.dotted, &lower) || is_any(|it| it.titles, &lower) {
            return Self::Abbreviation;
        }
        let dotted = lower.contains('.') && lower.split('.').all(|part| part.chars().count() <= 1);
        if dotted || is_any(|it| it.either, &lower) {
            return Self::Either;
        }
        Self::Clear
    }
}

/// `follows`: the text after the punctuation and its closing quotes. `open`: a quote, bracket or
/// emphasis around it is open.
pub fn verdict(kind: Kind, before: &str, follows: &str, open: bool) -> Verdict {
    let Some(first) = follows.chars().next() else {
        let clear = matches!(kind, Kind::Clear | Kind::FullWidth) && !open;
        return if clear { Verdict::End } else { Verdict::Wait };
    };
    if !first.is_whitespace() {
        return directly(kind, before, first);
    }
    if kind == Kind::Clear {
        return Verdict::End;
    }
    let word = follows.trim_start();
    let gap = follows.get(..follows.len() - word.len()).unwrap_or_default();
    if gap.contains(['\n', '\r']) {
        return Verdict::End;
    }
    match word.chars().next() {
        Some(next) => spaced(kind, before, word, next),
        None => Verdict::Wait,
    }
}

fn directly(kind: Kind, before: &str, next: char) -> Verdict {
    let joined = next.is_alphanumeric() || matches!(next, ',' | ';' | ':' | '-' | '–' | '—' | '/');
    let new_word = next.is_uppercase() && before.ends_with(char::is_lowercase);
    match kind {
        Kind::FullWidth => Verdict::End,
        Kind::Clear if new_word || !joined => Verdict::End,
        _ => Verdict::Go,
    }
}

/// For `word`, beginning with `next`, after a space.
fn spaced(kind: Kind, before: &str, word: &str, next: char) -> Verdict {
    let ends = match kind {
        Kind::Clear | Kind::FullWidth => true,
        Kind::Abbreviation | Kind::ListMarker => false,
        Kind::Bracketed | Kind::Number => !next.is_lowercase(),
        Kind::Either => !next.is_lowercase() && !next.is_ascii_digit(),
        Kind::Ellipsis => {
            !next.is_lowercase() && !next.is_ascii_digit() && !matches!(next, '-' | '–' | '—')
        }
        Kind::Initial => initial_ends(before, next),
        Kind::GermanNumber => return after_german_number(before, word, next),
    };
    if ends { Verdict::End } else { Verdict::Go }
}

/// True if a single letter ends its sentence ("plan B. We go") rather than begins a name ("by J.
/// Smith").
fn initial_ends(before: &str, next: char) -> bool {
    if next.is_lowercase() {
        return false;
    }
    let (earlier, letter) = last_token(before);
    let (_, word) = last_token(earlier.trim_end());
    !next.is_alphabetic()
        || (letter.starts_with(char::is_uppercase)
            && word.starts_with(char::is_lowercase)
            && !word.ends_with('.')
            && !is_any(|it| it.before_initial, word))
}

/// "am 3. Mai", "der 2. Versuch", but "Ich habe 3. Und du?"
fn after_german_number(before: &str, word: &str, next: char) -> Verdict {
    let (earlier, _) = last_token(before);
    let (_, article) = last_token(earlier.trim_end());
    if next.is_lowercase() || is_any(|it| it.before_ordinal, &article.to_lowercase()) {
        return Verdict::Go;
    }
    match word.find(|c: char| !c.is_alphanumeric()) {
        None if word.chars().count() <= 9 => Verdict::Wait,
        end => {
            let month = word.get(..end.unwrap_or(word.len())).unwrap_or(word).to_lowercase();
            if is_any(|it| it.ordinal_months, &month) { Verdict::Go } else { Verdict::End }
        }
    }
}

/// The text before the last word, and that word without opening marks.
fn last_token(text: &str) -> (&str, &str) {
    let opens = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '“' | '„' | '«' | '»' | '(' | '[' | '*' | '_' | '‘' | '—' | '/')
    };
    let start = text.rfind(opens).map_or(0, |at| {
        at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
    });
    text.split_at_checked(start).unwrap_or(("", text))
}

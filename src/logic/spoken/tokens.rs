//! Splits an utterance into tokens: numbers, the "d" of dice, signs, typed rolls, words.

use super::super::{
    dice,
    language::{DiceTalk, List, is_dice_talk},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Number(i64),
    /// The "d" of dice, or the German "w".
    Die {
        /// "w": the numbers around it are German.
        german: bool,
        /// Typed together with its sides, as in `d20`.
        glued: bool,
    },
    Plus,
    Minus,
    Typed(String),
    /// Any other word, in lower case.
    Word(String),
}

impl Token {
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }

    /// True for a word of any language's list.
    pub fn is(&self, list: impl Fn(&'static DiceTalk) -> List) -> bool {
        self.word().is_some_and(|word| is_dice_talk(list, word))
    }

    /// True for the "d" of dice and for a typed roll.
    pub fn is_dice(&self) -> bool {
        matches!(self, Self::Die { .. } | Self::Typed(_))
    }
}

/// Drops punctuation: recognisers write "two d. six".
pub(super) fn tokens(utterance: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for word in utterance.to_lowercase().split_whitespace() {
        let bare = word.trim_matches(|c: char| ".,;:!?\"'„“”…".contains(c));
        let bare = bare.replace(['−', '–'], "-");
        match bare.as_str() {
            "" => {}
            "+" => tokens.push(Token::Plus),
            "-" => tokens.push(Token::Minus),
            bare => match typed(bare) {
                Some(typed) => tokens.push(Token::Typed(typed)),
                None => split(bare, &mut tokens),
            },
        }
    }
    tokens
}

/// A roll beyond `2d6`, which is left to the phrase: a count may precede it.
fn typed(word: &str) -> Option<String> {
    let is_roll = word.contains(|c: char| c.is_ascii_digit()) && word.contains('d');
    let is_plain = word.chars().all(|c| c == 'd' || c.is_ascii_digit());
    if !word.contains("d%") && !word.ends_with("df") && (!is_roll || is_plain) {
        return None;
    }
    let roll = dice::parse(word).ok()?;
    (roll.has_dice() && roll.comment().is_none()).then(|| roll.to_string())
}

/// Splits a word at its signs; a hyphen between letters only joins.
fn split(word: &str, tokens: &mut Vec<Token>) {
    let chars: Vec<char> = word.chars().collect();
    let mut part = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let next = chars.get(at + 1);
        let is_digit = |c: Option<&char>| c.is_none_or(char::is_ascii_digit);
        let dice_next = chars.get(at + 1..).is_some_and(starts_dice);
        match c {
            '+' => flush(&mut part, tokens, Some(Token::Plus)),
            '-' if is_digit(before) && (is_digit(next) || dice_next) => {
                flush(&mut part, tokens, Some(Token::Minus));
            }
            '-' => flush(&mut part, tokens, None),
            c => part.push(*c),
        }
    }
    flush(&mut part, tokens, None);
}

/// True if dice without a count begin here: `d6`.
fn starts_dice(chars: &[char]) -> bool {
    matches!(chars, ['d' | 'w', digit, ..] if digit.is_ascii_digit())
}

fn flush(part: &mut String, tokens: &mut Vec<Token>, sign: Option<Token>) {
    let text = std::mem::take(part);
    let text = text.trim_matches(|c: char| ".,()".contains(c));
    if !text.is_empty() {
        classify(text, tokens);
    }
    tokens.extend(sign);
}

/// Adds the tokens of a part without signs: `2`, `d`, `2d`, `d6`, `2d6`, or a word.
fn classify(text: &str, tokens: &mut Vec<Token>) {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (count, rest) = text.split_at(digits);
    let mut letters = rest.chars();
    let german = match letters.next() {
        None => {
            tokens.push(count.parse().map_or_else(|_| word(text), Token::Number));
            return;
        }
        Some('d') => false,
        Some('w') => true,
        // "plus three" is written as "+, 3a" and "+ 4th".
        Some(_) if rest.len() <= 2 && is_behind_sign(tokens) => {
            tokens.push(count.parse().map_or_else(|_| word(text), Token::Number));
            return;
        }
        Some(_) => return tokens.push(word(text)),
    };
    let sides = letters.as_str();
    if matches!(rest, "dee" | "weh") && count.is_empty() {
        tokens.push(Token::Die { german, glued: false });
        return;
    }
    let sides = sides.strip_suffix('s').filter(|sides| !sides.is_empty()).unwrap_or(sides);
    let sides = sides.trim_end_matches(['\'', '’']);
    let (count_number, sides_number) = (count.parse().ok(), sides.parse().ok());
    let readable = (count.is_empty() || count_number.is_some())
        && (sides.is_empty() || sides_number.is_some());
    if !readable {
        tokens.push(word(text));
        return;
    }
    tokens.extend(count_number.map(Token::Number));
    tokens.push(Token::Die { german, glued: sides_number.is_some() });
    tokens.extend(sides_number.map(Token::Number));
}

fn is_behind_sign(tokens: &[Token]) -> bool {
    match tokens.last() {
        Some(Token::Plus | Token::Minus) => true,
        Some(Token::Word(word)) => matches!(word.as_str(), "plus" | "minus"),
        _ => false,
    }
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

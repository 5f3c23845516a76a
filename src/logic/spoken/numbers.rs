//! Number words, for the voice and from recognised speech.

use super::tokens::Token;
use crate::logic::language::Language;

/// Longest German number word, in bytes; each part of a longer one would be read again.
const LONGEST_GERMAN: usize = 80;
/// Powers of a thousand that fit an `i64`.
const SCALES: [(u64, &str); 6] = [
    (1_000_000_000_000_000_000, "quintillion"),
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    German,
}

pub fn number_words(n: i64) -> String {
    let mut words = Vec::new();
    if n < 0 {
        words.push("minus".to_owned());
    }
    let mut rest = n.unsigned_abs();
    for (scale, name) in SCALES {
        if rest >= scale {
            words.push(format!("{} {name}", below_thousand(rest / scale)));
            rest %= scale;
        }
    }
    if rest > 0 || n == 0 {
        words.push(below_thousand(rest));
    }
    words.join(" ")
}

/// German number words in one word ("dreiundzwanzig"); `None` from a million on.
pub fn german_number_words(n: i64) -> Option<String> {
    let sign = if n < 0 { "minus " } else { "" };
    let n = n.unsigned_abs();
    let words = match n {
        0..1_000 => german_below_thousand(n),
        1_000..1_000_000 => {
            let rest = n % 1_000;
            let rest = if rest == 0 { String::new() } else { german_below_thousand(rest) };
            format!("{}tausend{rest}", german_joined(n / 1_000))
        }
        _ => return None,
    };
    Some(format!("{sign}{words}"))
}

fn german_below_thousand(n: u64) -> String {
    let german = Language::german();
    let word = |list: &[&'static str], at: u64| {
        usize::try_from(at).ok().and_then(|at| list.get(at).copied()).unwrap_or_default()
    };
    match n {
        0..20 => word(german.small_numbers, n).to_owned(),
        20..100 if n.is_multiple_of(10) => word(german.tens, n / 10 - 2).to_owned(),
        20..100 => format!("{}und{}", german_joined(n % 10), word(german.tens, n / 10 - 2)),
        _ if n.is_multiple_of(100) => format!("{}hundert", german_joined(n / 100)),
        _ => format!("{}hundert{}", german_joined(n / 100), german_below_thousand(n % 100)),
    }
}

/// A German number before another part of its word: "ein" of "einundzwanzig".
fn german_joined(n: u64) -> String {
    let words = german_below_thousand(n);
    words.strip_suffix("eins").map_or(words.clone(), |head| format!("{head}ein"))
}

fn below_thousand(n: u64) -> String {
    let english = Language::english();
    let word = |list: &[&'static str], at: u64| {
        usize::try_from(at).ok().and_then(|at| list.get(at).copied()).unwrap_or_default()
    };
    match n {
        0..20 => word(english.small_numbers, n).to_owned(),
        20..100 if n.is_multiple_of(10) => word(english.tens, n / 10 - 2).to_owned(),
        20..100 => {
            format!("{}-{}", word(english.tens, n / 10 - 2), word(english.small_numbers, n % 10))
        }
        _ if n.is_multiple_of(100) => format!("{} hundred", word(english.small_numbers, n / 100)),
        _ => {
            format!("{} hundred {}", word(english.small_numbers, n / 100), below_thousand(n % 100))
        }
    }
}

/// The longest number at the start of `tokens`, and its length.
pub(super) fn read(tokens: &[Token], tongue: Tongue) -> Option<(i64, usize)> {
    if let Some(Token::Number(n)) = tokens.first() {
        return Some((*n, 1));
    }
    if tongue == Tongue::German {
        return Some((german(tokens.first()?.word()?)?, 1));
    }
    let (mut number, mut used) = match tokens.first()?.word()? {
        // "a hundred", "a thousand"
        "a" => (scale(tokens.get(1)?)?, 2),
        _ => hundreds(tokens)?,
    };
    if tokens.get(used).and_then(scale) == Some(1_000) {
        number *= 1_000;
        used += 1;
        let skip = used + usize::from(tokens.get(used).and_then(Token::word) == Some("and"));
        if let Some((rest, more)) = tokens.get(skip..).and_then(hundreds) {
            number += rest;
            used = skip + more;
        }
    }
    Some((number, used))
}

/// Like [`read`], in English or else German.
pub(super) fn read_either(tokens: &[Token]) -> Option<(i64, usize)> {
    [Tongue::English, Tongue::German].into_iter().find_map(|tongue| read(tokens, tongue))
}

/// Like [`read_either`], behind a sign, where "free" and "tree" are misheard threes.
pub(super) fn read_addend(tokens: &[Token]) -> Option<(i64, usize)> {
    read_either(tokens).or_else(|| {
        let word = tokens.first()?.word()?;
        matches!(word, "free" | "tree").then_some((3, 1))
    })
}

fn scale(token: &Token) -> Option<i64> {
    match token.word()? {
        "hundred" => Some(100),
        "thousand" => Some(1_000),
        _ => None,
    }
}

/// A number below a thousand; "hundred" alone is 100.
fn hundreds(tokens: &[Token]) -> Option<(i64, usize)> {
    let (mut number, mut used) = match tokens.first().and_then(scale) {
        Some(100) => (1, 0),
        _ => tens(tokens)?,
    };
    if number < 10 && tokens.get(used).and_then(scale) == Some(100) {
        number *= 100;
        used += 1;
        let skip = used + usize::from(tokens.get(used).and_then(Token::word) == Some("and"));
        if let Some((rest, more)) = tokens.get(skip..).and_then(tens) {
            number += rest;
            used = skip + more;
        }
    }
    Some((number, used))
}

/// A number below a hundred, also in the plural ("two d sixes").
fn tens(tokens: &[Token]) -> Option<(i64, usize)> {
    let number = english(tokens.first()?.word()?)?;
    let unit = tokens.get(1).and_then(Token::word).and_then(english);
    match unit.filter(|unit| number >= 20 && (1..10).contains(unit)) {
        Some(unit) => Some((number + unit, 2)),
        None => Some((number, 1)),
    }
}

fn english(word: &str) -> Option<i64> {
    let stem = match word {
        "sixes" => "six",
        "twenties" => "twenty",
        word => word,
    };
    find(Language::english(), stem).or_else(|| {
        find(Language::english(), stem.strip_suffix('s').filter(|stem| stem.len() > 2)?)
    })
}

/// A German number word up to 999,999.
fn german(word: &str) -> Option<i64> {
    if word.len() > LONGEST_GERMAN {
        return None;
    }
    if let Some((thousands, rest)) = word.split_once("tausend") {
        let thousands = if thousands.is_empty() { 1 } else { german(thousands)? };
        let rest = if rest.is_empty() { 0 } else { german(rest)? };
        return (thousands < 1_000).then_some(thousands * 1_000 + rest);
    }
    if let Some((hundreds, rest)) = word.split_once("hundert") {
        let hundreds = if hundreds.is_empty() { 1 } else { german(hundreds)? };
        let rest = if rest.is_empty() { 0 } else { german(rest)? };
        return (hundreds < 10).then_some(hundreds * 100 + rest);
    }
    match word {
        "ein" | "eine" | "einen" | "einem" => return Some(1),
        "zwo" => return Some(2),
        _ => {}
    }
    let compound = || {
        let (unit, tens) = word.split_once("und")?;
        let (unit, tens) = (german(unit)?, german(tens)?);
        ((1..10).contains(&unit) && tens >= 20).then_some(unit + tens)
    };
    find(Language::german(), word).or_else(compound)
}

fn find(language: &Language, word: &str) -> Option<i64> {
    let place = |list: &[&str]| {
        list.iter().position(|entry| *entry == word).and_then(|at| i64::try_from(at).ok())
    };
    place(language.small_numbers).or_else(|| place(language.tens).map(|at| (at + 2) * 10))
}

//! Bonuses without a sign: "da kommen noch 4 drauf", "that's four on top".
//!
//! Entry function: [`sign_bonuses`].

use super::{numbers, tokens::Token};
use crate::logic::language::is_any;

/// Puts a plus before a number that is said to come on top.
pub(super) fn sign_bonuses(tokens: &mut Vec<Token>) {
    for at in (1..tokens.len()).rev() {
        let before = tokens.get(..at).unwrap_or_default();
        let behind = tokens.get(at..).unwrap_or_default();
        if comes(before) && ends_on_top(behind) {
            tokens.insert(at, Token::Plus);
        }
    }
}

/// True if `tokens` end in "there comes", perhaps with a filler: "da kommen noch".
fn comes(tokens: &[Token]) -> bool {
    let word = |back: usize| tokens.len().checked_sub(back).and_then(|at| tokens.get(at)?.word());
    let is_coming = |word: Option<&str>| {
        let plain = word.map(|it| it.replace(['\'', '\u{2019}'], ""));
        plain.is_some_and(|it| is_any(|of| of.dice.coming, &it))
    };
    let is_still = matches!(word(1), Some("noch" | "auch" | "another" | "also" | "da"));
    is_coming(word(1))
        || is_still && (is_coming(word(2)) || word(2) == Some("noch") && is_coming(word(3)))
}

/// True for a number with "on top" directly behind it, and nothing it could be on top of.
fn ends_on_top(tokens: &[Token]) -> bool {
    let Some((_, used)) = numbers::read_either(tokens) else { return false };
    let word = |at: usize| tokens.get(used + at).and_then(Token::word);
    match (word(0), word(1), word(2)) {
        (Some("drauf" | "obendrauf"), _, _) => true,
        (Some("on"), Some("top"), Some("of")) => matches!(word(3), Some("that" | "it")),
        (Some("on"), Some("top"), _) => true,
        _ => false,
    }
}

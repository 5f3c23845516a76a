//! Corrects recognisers' spellings of the "d" of dice, and long dice words with one or two errors.
//!
//! Entry function: [`corrected`]. **Never**: changes a word of a language, or makes a "d" without a
//! word of rolling before it.

use strsim::osa_distance;

use super::{
    numbers::{self, Tongue},
    on_top,
    phrase::STANDARD,
    tokens::{self, Token},
    work::note,
};
use crate::logic::{
    language::{all, is_any, is_word},
    words::fold,
};

const ADVANTAGE: [&str; 4] = ["advantage", "disadvantage", "vorteil", "nachteil"];
/// Fewest letters of a word recognised when misspelt; shorter ones are too similar.
const LONG: usize = 7;
/// Fewest letters of a word with two errors.
const LONGER: usize = 9;
/// Endings of other forms of a word, which are no errors.
const ENDINGS: [&str; 5] = ["s", "e", "n", "en", "es"];

/// The tokens of `utterance` with "two days six", "disadvantege" and "dis advantage" corrected, and signs
/// that were left out.
pub(super) fn corrected(utterance: &str) -> Vec<Token> {
    let mut tokens = tokens::tokens(utterance);
    note(tokens.len());
    join(&mut tokens);
    for token in tokens.iter_mut() {
        if let Some(meant) = token.word().and_then(misspelt) {
            *token = Token::Word(meant.to_owned());
        }
    }
    put_dice_right(&mut tokens);
    on_top::sign_bonuses(&mut tokens);
    tokens
}

fn join(tokens: &mut Vec<Token>) {
    for at in (1..tokens.len()).rev() {
        let word = |at: usize| tokens.get(at).and_then(Token::word);
        let (Some(first), Some(second)) = (word(at - 1), word(at)) else { continue };
        let joined = format!("{first}{second}");
        if ADVANTAGE.contains(&joined.as_str()) {
            drop(tokens.splice(at - 1..=at, [Token::Word(joined)]));
        }
    }
}

/// The long dice word that `word` misspells; `None` if it is a word or too different.
fn misspelt(word: &str) -> Option<&'static str> {
    if word.chars().count() + 1 < LONG || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let checks = all(|it| it.dice.checks);
    let added = all(|it| it.dice.bonuses).chain(all(|it| it.dice.penalties));
    let known = ADVANTAGE.into_iter().chain(checks).chain(added);
    let near = known.filter_map(|known| {
        let mistakes = match known.chars().count() {
            ..LONG => return None,
            LONG..LONGER => 1,
            LONGER.. => 2,
        };
        let is_form = word.strip_prefix(known).is_some_and(|it| ENDINGS.contains(&it));
        let distance = osa_distance(word, known);
        (distance <= mistakes && !is_form).then_some((distance, known))
    });
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    (distance > 0 && !is_word(&fold(word))).then_some(known)
}

/// Corrects "two days six" after a word of rolling, between two numbers, the second a die's sides.
fn put_dice_right(tokens: &mut [Token]) {
    let sounds_like_d = |at: usize, tokens: &[Token]| {
        let (Some(before), Some(behind)) = (tokens.get(..at), tokens.get(at + 1..)) else {
            return false;
        };
        let word = tokens.get(at).and_then(Token::word);
        let sides = numbers::read(behind, Tongue::English).map(|(sides, _)| sides);
        word.is_some_and(|word| is_any(|it| it.like_d, word))
            && sides.is_some_and(|sides| STANDARD.contains(&sides))
            && is_count_of_a_roll(before)
    };
    for at in 2..tokens.len() {
        if sounds_like_d(at, tokens)
            && let Some(token) = tokens.get_mut(at)
        {
            *token = Token::Die { german: false, glued: false };
        }
    }
}

/// True if `tokens` end in a number directly after a word of rolling.
fn is_count_of_a_roll(tokens: &[Token]) -> bool {
    (1..tokens.len()).rev().take(2).any(|at| {
        let number = tokens.get(at..).and_then(|it| numbers::read(it, Tongue::English));
        let rolls = at.checked_sub(1).and_then(|at| tokens.get(at)).and_then(Token::word);
        number.is_some_and(|(_, used)| at + used == tokens.len())
            && rolls.is_some_and(|word| is_any(|it| it.dice.rolling, word))
    })
}

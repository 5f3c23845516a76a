//! Words that recognisers write for the "d" of dice.
//!
//! Entry function: [`put_right`]. **Never**: where nobody says that something is rolled.

use super::{
    numbers::{self, Tongue},
    phrase::STANDARD,
    tokens::Token,
};
use crate::logic::language::is_any;

/// Makes dice of "two days six": behind a word of rolling, between two numbers of which the second is
/// that of a die's sides.
pub(super) fn put_right(tokens: &mut [Token]) {
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

/// True if `tokens` end in a number right behind a word of rolling.
fn is_count_of_a_roll(tokens: &[Token]) -> bool {
    (1..tokens.len()).rev().take(2).any(|at| {
        let number = tokens.get(at..).and_then(|it| numbers::read(it, Tongue::English));
        let rolls = at.checked_sub(1).and_then(|at| tokens.get(at)).and_then(Token::word);
        number.is_some_and(|(_, used)| at + used == tokens.len())
            && rolls.is_some_and(|word| is_any(|it| it.dice.rolling, word))
    })
}

//! Another number of dice than in the last roll: "the same with one die more".
//!
//! Entry function: [`changes_the_number`]. Such a request must not repeat the roll with its old dice.

use super::tokens::Token;
use crate::logic::language::{DiceTalk, List};

/// Most tokens between "more" and its die: "one more of my dice", "one d six more".
const NEAR: usize = 2;

pub(super) fn changes_the_number(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| {
        let is_of_dice = || (at.saturating_sub(NEAR)..=at + NEAR).any(|near| is_die(tokens, near));
        let is_another = is(tokens, at, |it| it.another_die) && names_a_die(tokens, at + 1);
        is_another
            || is(tokens, at, |it| it.increase)
                && !is_of_rolls(tokens, at)
                && (is_of_dice() || ends_with(tokens, at))
    })
}

/// "one more time", "one more roll".
fn is_of_rolls(tokens: &[Token], at: usize) -> bool {
    is(tokens, at + 1, |it| it.turns) || is(tokens, at + 1, |it| it.throws)
}

/// "the same with one more"
fn ends_with(tokens: &[Token], at: usize) -> bool {
    let is_linked = |back: usize| {
        let before = at.checked_sub(back).and_then(|at| tokens.get(at)).and_then(Token::word);
        matches!(before, Some("with" | "mit" | "but" | "aber"))
    };
    is_linked(1) || is_linked(2)
}

fn is_die(tokens: &[Token], at: usize) -> bool {
    names_a_die(tokens, at) || tokens.get(at).is_some_and(Token::is_dice)
}

fn names_a_die(tokens: &[Token], at: usize) -> bool {
    is(tokens, at, |it| it.dice_nouns)
}

fn is(tokens: &[Token], at: usize, list: impl Fn(&'static DiceTalk) -> List) -> bool {
    tokens.get(at).is_some_and(|it| it.is(list))
}

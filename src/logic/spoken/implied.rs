//! A d20 requested without naming it: "roll perception with advantage plus four".
//!
//! Entry functions: [`added`] for separate bonuses, [`roll`] for the d20. It takes two of these
//! three: a word of rolling or a check, advantage, a bonus.
//! **Never**: decides which roll a bonus belongs to ([`super::dice_request`] does).

use std::{collections::HashSet, ops::Range};

use super::{
    numbers,
    phrase::{self, Elsewhere},
    tokens::Token,
};
use crate::logic::language::{DiceTalk, List, is_any};

/// Most words between "bonus" and its number: "my bonus to that is a plus seven".
const BETWEEN: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

pub(super) struct Addend {
    /// In dice syntax: "+4".
    pub text: String,
    pub range: Range<usize>,
}

/// The bonuses in `tokens`, in dice syntax ("+4-1"); may be empty.
pub(super) fn added(tokens: &[Token]) -> String {
    addends(tokens).into_iter().map(|it| it.text).collect()
}

pub(super) fn roll(tokens: &[Token]) -> Option<String> {
    let said = phrase::advantage(tokens);
    let (has_advantage, bonus) = (!matches!(said, Elsewhere::None), added(tokens));
    let is_rolled = has(tokens, |it| it.meant);
    let is_called = match (has_advantage, bonus.is_empty()) {
        (true, false) => true,
        (false, true) => false,
        (true, true) => is_rolled || has(tokens, |it| it.checks),
        (false, false) => is_rolled || names_a_check(tokens) && !counts_things(tokens),
    };
    is_called.then(|| format!("1d20{}{bonus}", suffix(said)))
}

/// The d20 that `tokens` request before added dice: "stealth plus five plus a d four".
pub(super) fn before_added_dice(tokens: &[Token], dice: &str) -> Option<String> {
    let sign = match sign(tokens.last()?)? {
        Sign::Plus => '+',
        Sign::Minus => '-',
    };
    let said = phrase::advantage(tokens);
    let bonus = added(tokens);
    let is_called = !matches!(said, Elsewhere::None) || !bonus.is_empty() || names_a_check(tokens);
    is_called.then(|| format!("1d20{}{bonus}{sign}{dice}", suffix(said)))
}

/// The bonuses and the advantage, as changes of a repeated roll in dice syntax: "+2 adv".
pub(super) fn changes(tokens: &[Token]) -> String {
    format!("{}{}", added(tokens), suffix(phrase::advantage(tokens)))
}

pub(super) fn names_a_check(tokens: &[Token]) -> bool {
    has(tokens, |it| it.checks) || has(tokens, |it| it.attacks)
}

/// True if `tokens`, after named dice, begin another roll: "and an attack with advantage".
pub(super) fn is_another(tokens: &[Token]) -> bool {
    let joins = |it: &Token| matches!(it.word(), Some("and" | "und" | "then" | "dann"));
    let at = tokens.iter().position(joins);
    at.and_then(|at| tokens.get(at..))
        .is_some_and(|it| names_a_check(it) || !matches!(phrase::advantage(it), Elsewhere::None))
}

/// Advantage after a roll, as [`crate::logic::dice::parse()`] reads it.
fn suffix(said: Elsewhere) -> String {
    match said {
        Elsewhere::One(advantage) => format!(" {advantage}"),
        Elsewhere::None | Elsewhere::Both => String::new(),
    }
}

fn has(tokens: &[Token], list: impl Fn(&'static DiceTalk) -> List + Copy) -> bool {
    tokens.iter().any(|it| it.is(list))
}

/// True if the last number counts things: "save me plus two friends".
fn counts_things(tokens: &[Token]) -> bool {
    let last = addends(tokens).pop();
    let behind = last.and_then(|it| tokens.get(it.range.end)).and_then(Token::word);
    behind.is_some_and(|word| {
        !is_any(|it| it.function_words, word)
            && !is_any(|it| it.endings.closing, word)
            && !is_any(|it| it.dice.beside_bonus, word)
    })
}

/// The places of `addends`.
pub(super) fn places(addends: &[Addend]) -> HashSet<usize> {
    addends.iter().flat_map(|it| it.range.clone()).collect()
}

pub(super) fn addends(tokens: &[Token]) -> Vec<Addend> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        match addend(tokens, at) {
            Some(found) => {
                at = found.range.end;
                all.push(found);
            }
            None => at += 1,
        }
    }
    all
}

/// "plus four", "a bonus of three", "my modifier is minus one"; not "two plus two" or dice.
fn addend(tokens: &[Token], start: usize) -> Option<Addend> {
    let mut is_minus = sign(tokens.get(start)?)? == Sign::Minus;
    let before = start.checked_sub(1).and_then(|before| tokens.get(before..start));
    let is_article = |it: &[Token]| {
        it.first().and_then(Token::word).is_some_and(|it| is_any(|of| of.dice.beside_bonus, it))
    };
    if before.is_some_and(|it| numbers::read_addend(it).is_some() && !is_article(it)) {
        return None;
    }
    let mut at = start + 1;
    while at <= start + BETWEEN {
        let token = tokens.get(at)?;
        match (sign(token), token.word()) {
            (Some(another), _) => is_minus |= another == Sign::Minus,
            (None, Some(word)) if is_any(|it| it.dice.beside_bonus, word) => {}
            _ => break,
        }
        at += 1;
    }
    let (number, used) = numbers::read_addend(tokens.get(at..)?)?;
    let mut next = at + used;
    let behind = tokens.get(next);
    let is_dice = matches!(behind, Some(Token::Die { .. }))
        || behind.and_then(Token::word).is_some_and(|word| {
            matches!(word, "sided" | "times") || word.contains("seiti") || word.contains("seiter")
        });
    if is_dice {
        return None;
    }
    // "a plus three bonus"
    let noun = behind.and_then(Token::word);
    next += usize::from(noun.is_some_and(|word| is_any(|it| it.dice.bonuses, word)));
    let sign = if is_minus { '-' } else { '+' };
    Some(Addend { text: format!("{sign}{number}"), range: start..next })
}

fn sign(token: &Token) -> Option<Sign> {
    let is = |list: fn(&'static DiceTalk) -> List| token.is(list);
    match token {
        Token::Plus => Some(Sign::Plus),
        Token::Minus => Some(Sign::Minus),
        _ if is(|it| it.adds) || is(|it| it.bonuses) => Some(Sign::Plus),
        _ if is(|it| it.takes) || is(|it| it.penalties) => Some(Sign::Minus),
        _ => None,
    }
}

//! Dice: parses text to an expression and rolls it.
//!
//! [`parse()`] reads, [`Expression::roll`] rolls, [`Expression::odds`] computes the probability of
//! each total. The syntax is that of Avrae's `d20` library (`4d6kh3`, `rr<3`, `(1d6, 1d8)kh1`,
//! `2d6[fire]`, comparisons) with common forms of other tables (`adv`, `dis`, `dl1`, `dh1`, `!`,
//! `!>4`, `d%` as 1 to 100, `4dF`, capitals, `6#4d6kh3`, `6 4d6`, `repeat(4d6, 6)`).
//!
//! If tables read a spelling differently, the printed expression or a note in the outcome's text
//! shows the reading: `k3` keeps the dice that show a three (Avrae), `!>4` explodes on four or more
//! (Roll20), `>=` compares the sum (Avrae).
//! **Never**: guesses; unreadable text is an error with its column and a fix.

mod arithmetic;
mod comment;
mod cursor;
mod expression;
mod hint;
mod odds;
mod operators;
mod outcome;
mod parse;
mod roll;
mod text;
mod tree;

#[cfg(test)]
mod tests;

pub use expression::Expression;
pub use odds::Odds;
#[cfg(test)]
pub use outcome::Natural;
pub use outcome::{DiceError, MAX_CHARS, Outcome};
pub use roll::whole;

/// Refuses text longer than a roll, for callers that would look for words in it.
///
/// # Errors
/// That of [`parse()`] for such text.
pub fn check_length(text: &str) -> Result<(), DiceError> {
    if text.chars().nth(MAX_CHARS).is_some() { parse(text).map(drop) } else { Ok(()) }
}

/// Parses a roll.
///
/// # Errors
/// Unreadable text, with its column and, if possible, the nearest spelling that parses.
pub fn parse(text: &str) -> Result<Expression, DiceError> {
    let chars: Vec<char> = text.chars().collect();
    parse::expression(&chars).map_err(|fault| hint::explain(&chars, fault))
}

//! Dice: text to an expression, an expression and a source of randomness to an outcome.
//!
//! The syntax is that of Avrae's `d20` library in full (`4d6kh3`, `rr<3`, `(1d6, 1d8)kh1`,
//! `2d6[fire]`, comparisons) and what players of other tables type (`adv`, `dis`, `dl1`, `dh1`,
//! `!`, `!>4`, `d%` as 1 to 100, `4dF`, capitals, `6#4d6kh3`, `6 4d6`, `repeat(4d6, 6)`).
//! [`parse()`] reads, [`Expression::roll`] rolls, [`Expression::odds`] counts how likely each total is.
//!
//! If two tables read a spelling differently, the printed expression or a note in the outcome's
//! text says which reading was taken: `k3` keeps the dice that show a three (Avrae), `!>4` explodes
//! on four or more (Roll20), `>=` compares the sum (Avrae).
//!
//! **Never** guesses: what cannot be understood is an error with its column and a way out. A
//! comment begins with `#`, or stands behind a blank and does not look like an operator.

mod advantage;
mod arithmetic;
mod comment;
mod cursor;
mod expression;
mod hint;
mod limits;
mod looks;
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
pub use outcome::{DiceError, Outcome};
pub use roll::whole;

/// Reads a roll.
///
/// # Errors
/// Text that is not understood, with its column and, where possible, the nearest spelling that is.
pub fn parse(text: &str) -> Result<Expression, DiceError> {
    let chars: Vec<char> = text.chars().collect();
    parse::expression(&chars).map_err(|fault| hint::explain(&chars, fault))
}

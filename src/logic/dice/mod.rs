//! Dice: text to an expression, an expression and a source of randomness to an outcome.
//!
//! The syntax is that of Avrae's `d20` library in full (`4d6kh3`, `rr<3`, `(1d6, 1d8)kh1`,
//! `2d6[fire]`, comparisons) and what players of other tables type (`adv`, `dis`, `dl1`, `dh1`,
//! `!`, `!>4`, `d%` as 1 to 100, `4dF`, capitals, `6#4d6kh3`, `6 4d6`, `repeat(4d6, 6)`).
//! [`parse()`] reads, [`Expression::roll`] rolls.
//!
//! Where two tables read a spelling differently the printed expression or a note in the outcome's
//! text says which reading was taken: `k3` keeps the dice that show a three (Avrae), `!>4` explodes
//! on four or more (Roll20), `>=` compares the sum (Avrae).
//!
//! **Never** guesses: what cannot be understood is an error with its column and a way out. A
//! comment begins with `#`, or stands behind a blank and does not look like an operator.

mod arithmetic;
mod comment;
mod hint;
mod operators;
mod parse;
mod roll;
mod text;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt;

use rand::Rng;

use tree::Node;

/// Most dice one roll may throw, rerolls, explosions and repeats included (Avrae's limit).
const MAX_DICE: u32 = 1_000;
/// Longest expression, in characters.
const MAX_CHARS: usize = 500;
/// Deepest nesting of brackets and signs; bounds the recursion of parser, roller and printer.
const MAX_DEPTH: usize = 50;
/// Most sides a die may have.
const MAX_SIDES: i32 = 1_000_000;
/// Largest magnitude any number may reach (2^53 - 1): up to here an `f64` holds every whole number
/// and rounds none to it.
const MAX_NUMBER: f64 = 9_007_199_254_740_991.0;

/// A parsed roll. Printing it gives the canonical spelling without the comment (`4d6dl1` prints
/// `4d6pl1`), which parses to the same expression again.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// How often `root` is rolled: `Some` for `N#…`, also for `1#…`.
    repeats: Option<u32>,
    /// What is rolled.
    root: Node,
    /// What the player wrote behind the dice.
    comment: Option<String>,
}

impl Expression {
    /// Whether anything random is in it: false for plain sums such as `2+3`.
    pub fn has_dice(&self) -> bool {
        self.root.has_dice()
    }

    /// The player's words behind the dice, blanks collapsed.
    pub fn comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Rolls. The same state of `rng` gives the same outcome; every face is equally likely.
    ///
    /// # Errors
    /// Division by zero, a number of 2^53 or more, or more than 1,000 dice.
    pub fn roll<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<Outcome, DiceError> {
        let mut cup = roll::Cup::new(rng);
        let mut outcome = Outcome {
            expression: self.to_string(),
            comment: self.comment.clone(),
            rolls: Vec::new(),
            totals: Vec::new(),
            repeated: self.repeats.is_some(),
            text: String::new(),
            natural: None,
        };
        for turn in 1..=self.repeats.unwrap_or(1) {
            let rolled = cup.roll(&self.root)?;
            let total = roll::whole(rolled.total()?);
            rolled.faces(&mut outcome.rolls);
            outcome.totals.push(total);
            let natural = rolled.natural();
            if self.repeats.is_some() {
                if turn > 1 {
                    outcome.text.push('\n');
                }
                outcome.text.push_str(&format!("{turn}: "));
            } else {
                outcome.natural = natural;
            }
            text::line(&mut outcome.text, &rolled, total, natural);
        }
        text::remarks(&mut outcome.text, &self.root, self.comment.as_deref());
        Ok(outcome)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(repeats) = self.repeats {
            write!(f, "{repeats}#")?;
        }
        write!(f, "{}", self.root)
    }
}

/// What came of a roll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The canonical expression.
    pub expression: String,
    /// The player's words behind the dice.
    pub comment: Option<String>,
    /// The face of every die that counts, in the order of the expression, repeats one after the
    /// other. Dropped and rerolled faces are only in `text`.
    pub rolls: Vec<i64>,
    /// One total, or one for each repeat of `N#…`; cut toward zero.
    pub totals: Vec<i64>,
    /// Whether it was `N#…`, even with a single repeat.
    pub repeated: bool,
    /// For people: `2d6 (4, 5) + 3 = 12`. `~~1~~` was dropped or rerolled, `6!` exploded, `1 -> 2`
    /// was raised or lowered. Repeats are one line each.
    pub text: String,
    /// Set when the leftmost dice kept a single d20 that shows 20 or 1; never with `N#…`.
    pub natural: Option<Natural>,
}

impl Outcome {
    /// The total, unless the roll was repeated (`N#…`).
    pub fn total(&self) -> Option<i64> {
        if self.repeated { None } else { self.totals.first().copied() }
    }
}

/// A d20's extremes, which most rules treat apart from the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Natural {
    /// The kept d20 shows 20.
    Twenty,
    /// The kept d20 shows 1.
    One,
}

/// Why a text is no roll, or a roll has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}{}", .hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
pub struct DiceError {
    /// Where, counted in characters from 1.
    pub column: usize,
    /// What is wrong, the bad part in quotes.
    pub message: String,
    /// The way out, when there is one.
    pub hint: Option<String>,
}

/// Reads a roll.
///
/// # Errors
/// Whatever is not understood, with its column and, where possible, the nearest spelling that is.
pub fn parse(text: &str) -> Result<Expression, DiceError> {
    let chars: Vec<char> = text.chars().collect();
    parse::expression(&chars).map_err(|fault| hint::explain(&chars, fault))
}

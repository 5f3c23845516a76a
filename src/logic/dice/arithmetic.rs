//! Binary operators: Python's arithmetic on numbers that stay exact.
//!
//! **Never**: returns a number that is not finite or exceeds the limit.

use std::fmt;

use super::outcome::{DiceError, MAX_NUMBER};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// `//`: rounds down.
    FloorDiv,
    /// `%`: has the sign of the divisor.
    Rem,
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Binary {
    pub fn is_comparison(self) -> bool {
        !matches!(self, Self::Add | Self::Sub | Self::Mul | Self::Div | Self::FloorDiv | Self::Rem)
    }

    /// Computes as Python does, on numbers below 2^53. `column` is for errors.
    pub fn apply(self, left: f64, right: f64, column: usize) -> Result<f64, DiceError> {
        let fail = |message: &str, hint: Option<&str>| DiceError {
            column,
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
        };
        if right == 0.0 && matches!(self, Self::Div | Self::FloorDiv | Self::Rem) {
            return Err(fail("cannot divide by zero", None));
        }
        let truth = |yes: bool| f64::from(u8::from(yes));
        let value = match self {
            Self::Add => left + right,
            Self::Sub => left - right,
            Self::Mul => left * right,
            Self::Div => left / right,
            Self::FloorDiv => floor_div(left, right),
            Self::Rem => floor_rem(left, right),
            Self::Equal => truth(left == right),
            Self::NotEqual => truth(left != right),
            Self::Less => truth(left < right),
            Self::AtMost => truth(left <= right),
            Self::More => truth(left > right),
            Self::AtLeast => truth(left >= right),
        };
        if value.abs() <= MAX_NUMBER {
            Ok(value)
        } else {
            Err(fail(
                "the result is too large to be exact",
                Some("numbers may reach 9007199254740991"),
            ))
        }
    }
}

fn floor_rem(left: f64, right: f64) -> f64 {
    let rem = left % right;
    if rem != 0.0 && (rem < 0.0) != (right < 0.0) { rem + right } else { rem }
}

/// Quotient rounded down, by the remainder, which is exact where the quotient may not be (Python's
/// `float_floor_div`).
fn floor_div(left: f64, right: f64) -> f64 {
    let quotient = (left - floor_rem(left, right)) / right;
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Rem => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        })
    }
}

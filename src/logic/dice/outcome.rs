//! Result of a roll: an [`Outcome`], or a [`DiceError`].

/// A finished roll.
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
    /// True if it was `N#…`, even with a single repeat.
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

/// Error for text that is not a roll, or for a roll without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}{}", .hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
pub struct DiceError {
    /// Position of the mistake, in characters from 1.
    pub column: usize,
    /// The mistake, the bad part in quotes.
    pub message: String,
    /// The way out, when there is one.
    pub hint: Option<String>,
}

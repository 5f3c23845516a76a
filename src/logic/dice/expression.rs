//! A parsed roll, which can be rolled and printed.
//!
//! Entry type: [`Expression`].

use std::fmt;

use rand::Rng;

use super::{
    outcome::{DiceError, Outcome},
    roll, text,
    tree::Node,
};

/// A parsed roll. Displays in canonical spelling without the comment (`4d6dl1` as `4d6pl1`), which
/// parses to the same expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// `Some` for `N#…`, also for `1#…`.
    pub(super) repeats: Option<u32>,
    pub(super) root: Node,
    pub(super) comment: Option<String>,
}

impl Expression {
    /// True if anything is random: false for sums such as `2+3`.
    pub fn has_dice(&self) -> bool {
        self.root.has_dice()
    }

    /// Text behind the dice, blanks collapsed.
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

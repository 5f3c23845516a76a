//! Dice that people roll themselves. NPCs roll with a tool. Entry type: [`Dice`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rand::{SeedableRng, rngs::StdRng};

use crate::logic::{
    dice::{DiceError, Expression, Outcome, check_length},
    spoken::{APART, read_dice, repeated},
};

/// People whose last roll is remembered; beyond it the map is cleared.
const MOST: usize = 1_000;

/// Dice that remember each person's last roll. Cloning shares them.
#[derive(Clone)]
pub struct Dice(Arc<Mutex<Thrown>>);

struct Thrown {
    rng: StdRng,
    /// Last rolls in dice syntax, by person.
    last: HashMap<String, String>,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        let rng = StdRng::seed_from_u64(seed);
        Self(Arc::new(Mutex::new(Thrown { rng, last: HashMap::new() })))
    }

    /// Rolls the dice in `text` for `by`: in notation, in words, or "again".
    pub fn roll(&self, text: &str, by: &str) -> Result<Vec<Outcome>, DiceError> {
        let mut thrown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Thrown { rng, last } = &mut *thrown;
        let rolls = wanted(text, last.get(by))?;
        let mut fallen = Vec::new();
        for roll in rolls {
            fallen.push(roll.roll(rng)?);
        }
        let rolled: Vec<&str> = fallen.iter().map(|it| it.expression.as_str()).collect();
        if last.len() >= MOST && !last.contains_key(by) {
            last.clear();
        }
        last.insert(by.to_owned(), rolled.join(APART));
        Ok(fallen)
    }
}

/// The rolls in `text`; "again" repeats the `last` ones.
fn wanted(text: &str, last: Option<&String>) -> Result<Vec<Expression>, DiceError> {
    check_length(text)?;
    read_dice(text).or_else(|error| {
        // The command itself says "roll".
        let changes = repeated(text).or_else(|| repeated(&format!("roll {text}"))).ok_or(error)?;
        let last = last.ok_or_else(|| DiceError {
            column: 1,
            message: "you have rolled nothing that could be repeated".to_owned(),
            hint: Some("name dice, as in 2d6+3".to_owned()),
        })?;
        read_dice(&format!("{last}{changes}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn again_repeats_the_last_roll_of_the_person() {
        let dice = Dice::new(1);
        let rolled = |text: &str, by: &str| {
            let fallen = dice.roll(text, by).map_err(|error| error.message)?;
            Ok::<_, String>(fallen.into_iter().map(|it| it.expression).collect::<Vec<_>>())
        };
        assert!(rolled("again", "Wren").is_err());
        assert_eq!(rolled("2d6+3", "Wren").unwrap(), ["2d6+3"]);
        assert_eq!(rolled("1d8; 1d20", "Odo").unwrap(), ["1d8", "1d20"]);
        for text in ["again", "roll the same again", "once more", "noch mal"] {
            assert_eq!(rolled(text, "Wren").unwrap(), ["2d6+3"], "{text}");
        }
        assert_eq!(rolled("again+2", "Odo").unwrap(), ["1d8", "1d20+2"]);
        assert!(rolled("2x6", "Wren").is_err());
    }

    #[test]
    fn texts_beyond_a_roll_are_refused() {
        let error = Dice::new(1).roll(&"1+".repeat(400), "Wren").unwrap_err();
        assert_eq!(error.message, "the roll is longer than 500 characters");
    }
}

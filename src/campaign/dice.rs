//! Dice that people throw themselves.
//!
//! Entry type: [`Dice`]. **Never**: thrown by an NPC; those have a tool.

use std::sync::{Arc, Mutex, PoisonError};

use rand::{SeedableRng, rngs::StdRng};

use crate::logic::{
    dice::{DiceError, Outcome},
    spoken::read_dice,
};

/// Dice. Cloning shares them.
#[derive(Clone)]
pub struct Dice(Arc<Mutex<StdRng>>);

impl Dice {
    /// Dice that fall as `seed` says.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    /// Throws what `text` says, in dice notation or in words.
    ///
    /// # Errors
    /// The text is not valid dice; the error says why.
    pub fn roll(&self, text: &str) -> Result<Vec<Outcome>, DiceError> {
        let rolls = read_dice(text)?;
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rolls.iter().map(|roll| roll.roll(&mut *dice)).collect()
    }
}

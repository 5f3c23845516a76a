//! Lines that an NPC speaks in place of an answer. **Never**: reveals the reason; only the game
//! master reads it.

use crate::logic::spoken::{moment, spending_stop};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occasion {
    Spent,
    Unanswered,
}

impl Occasion {
    /// The line in this ISO 639-1 language.
    pub fn line(self, language: &str) -> &'static str {
        match self {
            Self::Spent => spending_stop(language),
            Self::Unanswered => moment(language),
        }
    }
}

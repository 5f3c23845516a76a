//! Lines that an NPC says in place of an answer.
//!
//! Entry type: [`Occasion`]. **Never**: gives the reason away; that is for the game master.

use crate::logic::spoken::{moment, spending_stop};

/// Reason for a missing answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// A spending cap is reached.
    Spent,
    /// No chat model answers.
    Unanswered,
}

impl Occasion {
    /// The line to say, in the language of this ISO 639-1 code.
    pub fn line(self, language: &str) -> &'static str {
        match self {
            Self::Spent => spending_stop(language),
            Self::Unanswered => moment(language),
        }
    }
}

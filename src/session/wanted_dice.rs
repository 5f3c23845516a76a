//! What an utterance wants of dice, in view of what its speaker said and rolled before with the same NPC.
//!
//! Entry type: [`WantedDice`]; the turn's facts tell it to the model and its tools. **Never**: rolls.

use super::{rolled_before::request_after, told_bonus::roll_with_bonus};
use crate::{
    domain::{PersonId, TurnFacts},
    engine::Conversation,
    logic::spoken,
};

/// What an utterance wants of dice; the fields are those of [`TurnFacts`].
pub struct WantedDice {
    /// The rolls that are wanted.
    pub rolls: Option<String>,
    /// The roll whose odds are asked for.
    pub odds: Option<String>,
    /// Number of rolls before the last one that is asked for.
    pub last: Option<u8>,
    /// No dice may fall.
    pub withheld: bool,
}

impl WantedDice {
    /// Of `text` of `by`, said after the conversation `before` to an NPC with these `names`.
    pub fn of<'n>(
        text: &str,
        by: &PersonId,
        before: &Conversation,
        names: impl Iterator<Item = &'n str>,
    ) -> Self {
        let wanted = request_after(text, by, before, names);
        let rolls = roll_with_bonus(text, by, before).or_else(|| wanted.rolls());
        Self {
            rolls: rolls.or_else(|| spoken::typed_dice(text)),
            odds: wanted.odds(),
            last: wanted.last(),
            withheld: wanted.withholds(),
        }
    }

    /// True if `facts` say the same of dice.
    pub fn is_in(&self, facts: &TurnFacts) -> bool {
        self.rolls == facts.dice
            && self.odds == facts.odds
            && self.last == facts.last
            && self.withheld == facts.dice_withheld
    }
}

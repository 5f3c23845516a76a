//! Dice that an utterance asks for, given its speaker's previous words and rolls with the NPC.
//!
//! Entry type: [`WantedDice`], passed to model and tools in the turn's facts.

use super::{rolled_before::request_after, told_bonus::roll_with_bonus};
use crate::{
    domain::{PersonId, TurnFacts},
    engine::Conversation,
    logic::spoken,
};

/// Dice that an utterance asks for; fields as in [`TurnFacts`].
pub struct WantedDice {
    pub rolls: Option<String>,
    pub odds: Option<String>,
    /// Rolls before the last one that is wanted.
    pub last: Option<u8>,
    pub withheld: bool,
}

impl WantedDice {
    /// `text` of `by`, after the conversation `before` with an NPC called `names`.
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

    pub fn is_in(&self, facts: &TurnFacts) -> bool {
        self.rolls == facts.dice
            && self.odds == facts.odds
            && self.last == facts.last
            && self.withheld == facts.dice_withheld
    }
}

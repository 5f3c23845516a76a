//! A bonus mentioned without a roll, after a request for one or after the roll itself.
//!
//! Entry function: [`roll_with_bonus`]. Uses the NPC's conversation for the previous request and
//! roll. Dice on the table are not thrown again.

use super::last_answered::last_answered;
use crate::{
    domain::PersonId,
    engine::Conversation,
    logic::spoken::{DiceRequest, TOLD, bonus_told},
};

/// Suffix of tools that roll dice.
const ROLL: &str = "roll";

/// The roll that `text` adds a bonus to, in the dice tool's notation: the last one, if it answered
/// the previous message of `by`; else the one requested there. `None` without a bonus or a roll.
pub fn roll_with_bonus(text: &str, by: &PersonId, before: &Conversation) -> Option<String> {
    let bonus = bonus_told(text)?;
    let awaited = |words: &str| DiceRequest::of(&format!("{words}. {text}")).rolls();
    let mut side_lines = before.side_lines().iter().rev();
    if let Some(line) = side_lines.find(|line| line.by.as_ref() == Some(by)) {
        return if line.unanswered { awaited(&line.text) } else { None };
    }
    let (said, has_rolled) = last_answered(by, before, &[ROLL])?;
    let (_, words) = said.text.split_once(": ")?;
    if has_rolled { Some(format!("{TOLD}{bonus}")) } else { awaited(words) }
}

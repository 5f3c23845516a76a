//! A bonus told without a roll, after the request for one or after the roll itself.
//!
//! Entry function: [`roll_with_bonus`]. The NPC's conversation says what the speaker said before, and whether it
//! rolled then. **Never**: has dice that lie thrown again.

use super::last_answered::last_answered;
use crate::{
    domain::PersonId,
    engine::Conversation,
    logic::spoken::{DiceRequest, TOLD, bonus_told},
};

/// End of the names under which models call the tool that throws dice.
const ROLL: &str = "roll";

/// The roll that `text` of `by` adds a bonus to, as the tool for dice takes it: the last one, if the NPC made it
/// for what they said before; else the one that they asked for. `None`: `text` tells no bonus, or they said
/// something else before.
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

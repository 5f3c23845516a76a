//! A bonus that its speaker tells by itself, after a request for a roll or after the roll.
//!
//! Entry function: [`roll_with_bonus`]. The NPC's conversation says what the speaker said before, and whether it
//! rolled then. **Never**: has dice that lie thrown again.

use crate::{
    domain::{Message, PersonId},
    engine::Conversation,
    logic::spoken::{Heard, TOLD, bonus_told},
};

/// End of the names under which models call the tool that throws dice.
const ROLL: &str = "roll";

/// The roll that `text` of `by` adds a bonus to, as the tool for dice takes it: the last one, if the NPC made it
/// for what they said before; else the one that they asked for. `None`: `text` tells no bonus, or they said
/// something else before.
pub fn roll_with_bonus(text: &str, by: &PersonId, before: &Conversation) -> Option<String> {
    let bonus = bonus_told(text)?;
    let awaited = |words: &str| Heard::of(&format!("{words}. {text}")).rolls();
    let mut overheard = before.overheard().iter().rev();
    if let Some(line) = overheard.find(|line| line.by.as_ref() == Some(by)) {
        return if line.unanswered { awaited(&line.text) } else { None };
    }
    let mut rolled = false;
    for message in before.messages().iter().rev() {
        match message {
            Message::Assistant { calls, .. } => {
                rolled |= calls.iter().any(|call| call.name.ends_with(ROLL));
            }
            Message::User(said) if said.by.as_ref() == Some(by) => {
                let (_, words) = said.text.split_once(": ")?;
                return if rolled { Some(format!("{TOLD}{bonus}")) } else { awaited(words) };
            }
            Message::User(_) => rolled = false,
            Message::System(_) | Message::Tool { .. } | Message::Summary { .. } => {}
        }
    }
    None
}

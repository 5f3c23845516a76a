//! Words about the roll that the speaker has just made with the same NPC: "same again", "what was that?".
//!
//! Entry function: [`heard_after`]. **Never**: takes an order behind other talk for a roll.

use super::last_answered::last_answered;
use crate::{
    domain::PersonId,
    engine::Conversation,
    logic::{
        spoken::{DiceRequest, after_roll},
        words::Words,
    },
};

/// Ends of the names under which models call the tools that throw dice and tell what they showed.
const ROLLS: [&str; 2] = ["roll", "last"];

/// Meaning of `text` of `by` about dice. Text without a word of dice counts if the last exchange of `by` with
/// the NPC, which has these `names`, was about a roll.
pub fn request_after<'n>(
    text: &str,
    by: &PersonId,
    before: &Conversation,
    names: impl Iterator<Item = &'n str>,
) -> DiceRequest {
    let request = DiceRequest::of(text);
    if request != DiceRequest::Nothing || !has_just_rolled(by, before) {
        return request;
    }
    let names: Vec<Words> = names.map(Words::of).collect();
    after_roll(text, |word| names.iter().any(|name| name.iter().any(|it| it == word)))
}

/// True if the NPC rolled, or told a roll, for what `by` said last.
fn has_just_rolled(by: &PersonId, before: &Conversation) -> bool {
    let has_spoken_since = before.side_lines().iter().any(|line| line.by.as_ref() == Some(by));
    !has_spoken_since && last_answered(by, before, &ROLLS).is_some_and(|(_, has_rolled)| has_rolled)
}

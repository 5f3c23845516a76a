//! References to a previous roll with the same NPC, such as "same again".
//!
//! Entry function: [`heard_after`].

use super::last_answered::last_answered;
use crate::{
    domain::PersonId,
    engine::Conversation,
    logic::{
        spoken::{DiceRequest, after_roll},
        words::Words,
    },
};

/// Suffixes of tools that roll dice or report rolls.
const ROLLS: [&str; 2] = ["roll", "last"];

/// Dice request in `text` of `by`. Text without a word for dice counts if their last exchange with
/// the NPC (called `names`) was about a roll.
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

fn has_just_rolled(by: &PersonId, before: &Conversation) -> bool {
    let has_spoken_since = before.side_lines().iter().any(|line| line.by.as_ref() == Some(by));
    !has_spoken_since && last_answered(by, before, &ROLLS).is_some_and(|(_, has_rolled)| has_rolled)
}

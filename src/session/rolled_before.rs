//! What is wanted of the roll that the speaker has just made with the same NPC: "same again", "what was that?".
//!
//! Entry function: [`heard_after`]. **Never**: takes an order behind other talk for a roll.

use crate::{
    domain::{Message, PersonId},
    engine::Conversation,
    logic::{
        spoken::{Heard, after_roll},
        words::Words,
    },
};

/// Ends of the names under which models call the tools that throw dice and tell what they showed.
const ROLLS: [&str; 2] = ["roll", "last"];

/// Meaning of `text` of `by` about dice; words without any of dice count where the last exchange of `by` with
/// the NPC, which is called by `names`, was about a roll.
pub fn heard_after<'n>(
    text: &str,
    by: &PersonId,
    before: &Conversation,
    names: impl Iterator<Item = &'n str>,
) -> Heard {
    let heard = Heard::of(text);
    if heard != Heard::Nothing || !has_just_rolled(by, before) {
        return heard;
    }
    let names: Vec<Words> = names.map(Words::of).collect();
    after_roll(text, |word| names.iter().any(|name| name.iter().any(|it| it == word)))
}

/// True if the NPC rolled, or told a roll, for what `by` said last.
fn has_just_rolled(by: &PersonId, before: &Conversation) -> bool {
    if before.overheard().iter().any(|line| line.by.as_ref() == Some(by)) {
        return false;
    }
    let mut rolled = false;
    for message in before.messages().iter().rev() {
        match message {
            Message::Assistant { calls, .. } => {
                rolled |= calls.iter().any(|call| ROLLS.iter().any(|it| call.name.ends_with(it)));
            }
            Message::User(said) if said.by.as_ref() == Some(by) => return rolled,
            Message::User(_) => rolled = false,
            Message::System(_) | Message::Tool { .. } | Message::Summary { .. } => {}
        }
    }
    false
}

//! Dice that an utterance asks for, given its speaker's previous words and rolls with the NPC.
//!
//! Entry type: [`WantedDice`], passed to model and tools in the turn's facts. The NPC's
//! conversation tells the previous request and roll, for words such as "same again" and for a bonus
//! mentioned later. Dice on the table are not thrown again.

use crate::{
    domain::{Message, PersonId, Said, TurnFacts},
    engine::Conversation,
    logic::{
        spoken::{self, DiceRequest, TOLD, after_roll, bonus_told},
        words::Words,
    },
};

/// Suffix of tools that roll dice.
const ROLL: &str = "roll";
/// Suffixes of tools that roll dice or report rolls.
const ROLLS: [&str; 2] = ["roll", "last"];

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

/// Dice request in `text` of `by`. Text without a word for dice counts if their last exchange with
/// the NPC (called `names`) was about a roll.
fn request_after<'n>(
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

/// The roll that `text` adds a bonus to, in the dice tool's notation: the last one, if it answered
/// the previous message of `by`; else the one requested there. `None` without a bonus or a roll.
fn roll_with_bonus(text: &str, by: &PersonId, before: &Conversation) -> Option<String> {
    let bonus = bonus_told(text)?;
    let awaited = |words: &str| DiceRequest::of(&format!("{words}. {text}")).rolls();
    let mut side_lines = before.side_lines().iter().rev();
    if let Some(line) = side_lines.find(|line| line.by.as_ref() == Some(by)) {
        return if line.unanswered { awaited(&line.text) } else { None };
    }
    let (said, has_rolled) = last_answered(by, before, &[ROLL])?;
    let (_, words) = said.name_and_words()?;
    if has_rolled { Some(format!("{TOLD}{bonus}")) } else { awaited(words) }
}

/// Last message of `by`; true if its answer called a tool whose name ends with one of `tools`.
/// `None` if they have said nothing yet. Ignores lines that the NPC only overheard.
fn last_answered<'c>(
    by: &PersonId,
    conversation: &'c Conversation,
    tools: &[&str],
) -> Option<(&'c Said, bool)> {
    let mut has_called = false;
    for message in conversation.messages().iter().rev() {
        match message {
            Message::Assistant { calls, .. } => {
                has_called |=
                    calls.iter().any(|call| tools.iter().any(|it| call.name.ends_with(it)));
            }
            Message::User(said) if said.by.as_ref() == Some(by) => return Some((said, has_called)),
            Message::User(_) => has_called = false,
            Message::System(_) | Message::Tool { .. } | Message::Summary { .. } => {}
        }
    }
    None
}

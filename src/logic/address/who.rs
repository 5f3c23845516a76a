//! The people an utterance may name.

use std::ops::Range;

use crate::logic::names::Strength;

/// The names of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'n> {
    /// The full name.
    pub name: &'n str,
    /// Nicknames and titles that mean the same person.
    pub aliases: &'n [String],
}

/// Somebody who has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// An NPC, by its place in the list of NPCs.
    Npc(usize),
    /// A player, by the character's name or their own. Own names follow the characters.
    Player(usize),
    /// An absent person of the campaign.
    Away,
}

/// A name in the text.
pub struct Hit {
    /// The person named.
    pub who: Who,
    /// Certainty with which the words mean that name.
    pub strength: Strength,
    /// The words it takes in the utterance.
    pub range: Range<usize>,
}

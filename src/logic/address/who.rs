//! People that an utterance may name.

use std::ops::Range;

use crate::logic::names::Strength;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'n> {
    pub name: &'n str,
    /// Nicknames and titles of the same person.
    pub aliases: &'n [String],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Index in the list of NPCs.
    Npc(usize),
    /// Index in the list of characters, followed by players' own names.
    Player(usize),
    /// An absent person of the campaign.
    Away,
}

pub struct Hit {
    pub who: Who,
    /// How surely the words mean that name.
    pub strength: Strength,
    pub range: Range<usize>,
}

//! The people an utterance may name.

/// What somebody is called.
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
    /// A player, by the character's name.
    Player(usize),
}

//! Names from outside a workflow's own file.

use crate::{domain::Npc, logic::music::Library};

/// Names that the steps of workflows may use.
#[derive(Clone, Copy)]
pub struct Nameable<'a> {
    /// `None`: some of the cast is unreadable, so no name counts as unknown.
    pub cast: Option<&'a [Npc]>,
    pub assistant: Option<&'a Npc>,
    /// NPCs that may have been in the cast until now.
    pub left: &'a [Npc],
    /// Identities of all tools.
    pub tools: &'a [&'a str],
    pub music: &'a Library,
}

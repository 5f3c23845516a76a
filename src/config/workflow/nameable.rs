//! What workflows may name outside of their own file.

use crate::{domain::Npc, logic::music::Library};

/// Reserved server name of workflows that are tools.
pub const SERVER: &str = "workflow";

/// What the steps of workflows may name.
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

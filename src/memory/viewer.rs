//! The viewer of a query, and visibility.

use serde::{Deserialize, Serialize};

/// The viewer of an answer. Applied inside the query, never to its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The game master: everything except withdrawn lines.
    Dm,
    /// The players: everything for everyone, but only accepted items.
    Everyone,
    /// An NPC. Lines: those it was present at. Items: accepted ones for everyone, if they come from
    /// no session or only from lines it was present at; and those that name it. Entities and
    /// relations: those for everyone, if they have no topics or share one with it; and those that
    /// name it.
    Npc { name: String, knows: Vec<String> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    #[default]
    Everyone,
    Dm,
    Npcs(Vec<String>),
}

impl Visibility {
    /// True if some viewers may not see it.
    pub fn is_gated(&self) -> bool {
        *self != Self::Everyone
    }
}

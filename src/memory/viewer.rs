//! The viewer of a look-up, and the things that it may see.

use serde::{Deserialize, Serialize};

/// The viewer of an answer. Applied inside the query, never to its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The game master: all there is, save what was withdrawn.
    Dm,
    /// The players: what is for everyone. Of items: accepted ones.
    Everyone,
    /// An NPC. Of lines: those it was present at. Of items: accepted ones for everyone, if they come
    /// from no session or from lines at all of which it was present; and those that name it. Of
    /// entities and relations: those for everyone, if they have no knowledge tags or share one with
    /// it; and those that name it.
    Npc {
        /// Its full name, as in lines and witnesses.
        name: String,
        /// Topics it knows about, folded.
        knows: Vec<String>,
    },
}

/// Viewers that may see something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Everyone at the table.
    #[default]
    Everyone,
    /// The game master alone.
    Dm,
    /// The game master, and the NPCs of these names.
    Npcs(Vec<String>),
}

impl Visibility {
    /// True if not everybody may see it.
    pub fn is_gated(&self) -> bool {
        *self != Self::Everyone
    }
}

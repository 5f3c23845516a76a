//! A table's world: entities and the players' characters.

use std::collections::BTreeSet;

use super::npc::{Npc, bare_name};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Campaign {
    /// For NPCs and lists; may be empty.
    pub name: String,
    pub description: String,
    pub system: String,
    pub entities: Vec<Entity>,
    pub cast: Vec<Entity>,
    pub players: Vec<Player>,
    /// The first is where a session starts. Empty: every NPC is present.
    pub scenes: Vec<Scene>,
    /// Subjects that the people at the table want to avoid.
    pub lines_and_veils: Vec<String>,
}

impl Campaign {
    /// NPCs of the cast without an entity of their own.
    pub fn undescribed(&self) -> impl Iterator<Item = &Entity> {
        let names: BTreeSet<_> = self.entities.iter().map(|it| bare_name(&it.name)).collect();
        let aliases = self.entities.iter().flat_map(|it| &it.aliases);
        let aliases: BTreeSet<_> = aliases.map(|it| bare_name(it)).collect();
        self.cast.iter().filter(move |npc| {
            let mut called = std::iter::once(&npc.name).chain(&npc.aliases);
            !aliases.contains(&bare_name(&npc.name))
                && !called.any(|name| names.contains(&bare_name(name)))
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    pub kind: EntityKind,
    pub name: String,
    pub aliases: Vec<String>,
    /// Knowledge that everyone at the table may have.
    pub description: String,
    pub pronunciation: Option<String>,
    /// Known only to the game master and NPCs in `known_to`.
    pub dm_only: bool,
    /// Full names of NPCs that know of it if `dm_only`.
    pub known_to: Vec<String>,
}

impl From<&Npc> for Entity {
    fn from(npc: &Npc) -> Self {
        Self {
            kind: EntityKind::Npc,
            name: npc.name.clone(),
            aliases: npc.aliases.clone(),
            description: String::new(),
            pronunciation: None,
            dm_only: false,
            known_to: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    pub name: String,
    /// Full names of the NPCs present.
    pub npcs: Vec<String>,
    /// Music that begins with it, described in free words; `None`: unchanged.
    pub music: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityKind {
    Npc,
    Player,
    Location,
    Item,
    Faction,
    Quest,
    Event,
    Concept,
    Lore,
}

/// A player and the character NPCs know them as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    pub name: String,
    pub character: String,
}

//! The world a table plays in: entities and the players' characters.

use std::collections::BTreeSet;

use super::npc::{Npc, bare_name};

/// A campaign file's content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Campaign {
    /// Name for NPCs and for lists; may be empty.
    pub name: String,
    /// Its premise.
    pub description: String,
    /// The rules played ("D&D 5e").
    pub system: String,
    /// People, places, items, quests.
    pub entities: Vec<Entity>,
    /// The NPCs who can be at the table, as entities.
    pub cast: Vec<Entity>,
    /// The players and whom they play.
    pub players: Vec<Player>,
    /// Scenes; the first is where a session starts. None: every NPC is present.
    pub scenes: Vec<Scene>,
    /// Subjects that the people at the table do not want brought up.
    pub lines_and_veils: Vec<String>,
}

impl Campaign {
    /// NPCs of the cast that no entity describes.
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

/// Something of the world with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Kind of thing.
    pub kind: EntityKind,
    /// The full name, as it is said at the table.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Knowledge that everyone at the table may have.
    pub description: String,
    /// Pronunciation of its name, in plain letters.
    pub pronunciation: Option<String>,
    /// Known to the game master alone, and to those of `known_to`.
    pub dm_only: bool,
    /// Full names of the NPCs that know of it where `dm_only`.
    pub known_to: Vec<String>,
}

impl From<&Npc> for Entity {
    /// An NPC as publicly known: its names alone.
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

/// A named situation and the NPCs present in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Its name ("The Tilted Tankard").
    pub name: String,
    /// Full names of the NPCs present.
    pub npcs: Vec<String>,
    /// Music that begins with it, in free words; `None`: it stays as it is.
    pub music: Option<String>,
}

/// Kinds of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityKind {
    /// Somebody who is not a player.
    Npc,
    /// A player's character.
    Player,
    /// A place, from a room to a continent.
    Location,
    /// Something to hold.
    Item,
    /// People who belong together: a guild, a house, a cult.
    Faction,
    /// Something to do.
    Quest,
    /// Something that happened.
    Event,
    /// An idea that is spoken of: a god, a law, a kind of magic.
    Concept,
    /// Anything else worth a name.
    Lore,
}

/// A player and the character NPCs know them as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    /// The person's name as the table uses it.
    pub name: String,
    /// The character's name.
    pub character: String,
}

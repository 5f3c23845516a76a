//! A table's world and game: entities, the players' characters, and rules.

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

/// One rule, spell or condition, short enough to be spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: String,
    pub name: String,
    /// "5e" (both editions), "5e-2014", "5e-2024", or another system's name.
    pub edition: String,
    pub category: String,
    /// Other names, and phrases players ask with.
    pub aliases: Vec<String>,
    pub text: String,
}

impl Rule {
    /// True if it applies to games of `system`: "5e" matches every fifth-edition rule, an edition
    /// its own and shared rules, any other name only its own.
    pub fn holds_in(&self, system: &str) -> bool {
        let own = self.edition.as_str();
        own == system
            || (own == "5e" && system.starts_with("5e-"))
            || (system == "5e" && own.starts_with("5e-"))
    }
}

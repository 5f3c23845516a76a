//! What a campaign file says: a [`World`] of entities and what they are to each other.

use std::collections::BTreeMap;

use crate::{domain::Entity, yaml::Position};

/// What a campaign file says of its world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// The file, as the user knows it.
    pub file: String,
    /// The campaign's name; may be empty.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The rules played.
    pub system: String,
    /// What there is, in the order of the file.
    pub entities: Vec<WorldEntity>,
    /// What could not be read, but can be meant.
    pub(super) half_read: Vec<KnownEntity>,
    /// Keys that only the configuration's own campaign file is read for.
    pub unused: Vec<&'static str>,
}

/// Something of the world, with what a table needs no NPC to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldEntity {
    /// By which it stays itself.
    pub id: String,
    /// Where it is in the file.
    pub at: Position,
    /// Who or what it is.
    pub entity: Entity,
    /// Facts by name.
    pub properties: BTreeMap<String, String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How it stands to others.
    pub relationships: Vec<Relationship>,
}

/// How an entity stands to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Relationship {
    /// The other one.
    pub target: Target,
    /// Where that stands.
    pub at: Position,
    /// What it is ("rules").
    pub kind: String,
    /// Holds the other way round too.
    pub bidirectional: bool,
}

/// How the other side of a relationship is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// By its id.
    Id(String),
    /// By a name or an alias; case does not matter.
    Name(String),
}

/// An entity that there is already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownEntity {
    /// By which it stays itself.
    pub id: String,
    /// Its name and aliases.
    pub names: Vec<String>,
}

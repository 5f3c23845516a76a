//! Contents of a campaign file: a [`World`] of entities and their relations to each other.

use std::collections::BTreeMap;

use crate::{domain::Entity, yaml::Position};

/// The world of a campaign file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// The file, as the user knows it.
    pub file: String,
    /// The campaign's name; may be empty.
    pub name: String,
    /// Its premise.
    pub description: String,
    /// The rules played.
    pub system: String,
    /// People, places and things, in the order of the file.
    pub entities: Vec<WorldEntity>,
    /// Entities that could not be read, but that others may refer to.
    pub(super) half_read: Vec<KnownEntity>,
    /// Keys that only the configuration's own campaign file is read for.
    pub unused: Vec<&'static str>,
}

/// Something of the world, with what a table needs no NPC to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldEntity {
    /// By which it stays itself.
    pub id: String,
    /// Place in the file.
    pub at: Position,
    /// Its kind, names and description, and who may know of it.
    pub entity: Entity,
    /// Facts by name.
    pub properties: BTreeMap<String, String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Relationships to other entities.
    pub relationships: Vec<Relationship>,
}

/// Relationship of an entity to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Relationship {
    /// The other one.
    pub target: Target,
    /// Place of the relationship in the file.
    pub at: Position,
    /// Kind of relation ("rules").
    pub kind: String,
    /// Holds the other way round too.
    pub bidirectional: bool,
}

/// Reference to the other side of a relationship.
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

//! A campaign file's [`World`]: entities and their relations.

use std::collections::BTreeMap;

use crate::{domain::Entity, yaml::Position};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// As shown to the user.
    pub file: String,
    pub name: String,
    /// Its premise.
    pub description: String,
    pub system: String,
    /// In the order of the file.
    pub entities: Vec<WorldEntity>,
    /// Entities that are invalid, but that others may refer to.
    pub(super) half_read: Vec<KnownEntity>,
    /// Keys read only in the configuration's own campaign file.
    pub unused: Vec<&'static str>,
}

/// An entity, with details that only the memory needs.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldEntity {
    /// Stable across imports.
    pub id: String,
    pub at: Position,
    /// The part that a table needs.
    pub entity: Entity,
    pub properties: BTreeMap<String, String>,
    pub tags: Vec<String>,
    pub relationships: Vec<Relationship>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Relationship {
    pub target: Target,
    pub at: Position,
    /// Kind of relation ("rules").
    pub kind: String,
    /// Holds in both directions.
    pub bidirectional: bool,
}

/// The other side of a relationship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Id(String),
    /// A name or an alias, ignoring case.
    Name(String),
}

/// An existing entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownEntity {
    /// Stable across imports.
    pub id: String,
    pub names: Vec<String>,
}

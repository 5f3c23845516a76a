//! The world: its entities and the relations between them.
//!
//! Entry trait: [`Graph`]. **Never**: follows a relation to an entity that the viewer may not see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::Scope;

use super::{StoreFuture, Viewer, Visibility, transcript::Uid};

/// Largest depth of a neighbourhood, in relations.
pub const DEPTH_MAX: u32 = 3;

/// Longest path searched for, in relations.
pub const PATH_MAX: u32 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// Played by the game master.
    Npc,
    Player,
    Location,
    Item,
    Faction,
    Event,
    Quest,
    Concept,
    Lore,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Chosen by the caller, unique in the campaign.
    pub id: String,
    pub kind: EntityKind,
    /// The full name as spoken.
    pub name: String,
    pub aliases: Vec<String>,
    pub description: String,
    pub attributes: BTreeMap<String, Value>,
    pub tags: Vec<String>,
    /// Topics: only NPCs that know one of them know the entity; empty: all NPCs do.
    pub knowledge: Vec<String>,
    pub visibility: Visibility,
    /// Its source ("campaign:goblin-king"); `None`: made here.
    pub source: Option<String>,
}

impl Entity {
    /// True if some viewers may not see it. Unknown topics alone make no secret.
    pub fn is_gated(&self) -> bool {
        self.visibility.is_gated()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Said, or written by the game master.
    #[default]
    Stated,
    /// Concluded by a model and confirmed by the game master.
    Inferred,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// `None`: not said in a session.
    pub session: Option<String>,
    /// The utterance it comes from; deleting that removes the relation.
    pub utterance: Option<Uid>,
    pub origin: Origin,
    /// Confidence, 0 to 1.
    pub confidence: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RelationKey {
    pub from: String,
    /// Kind of relation ("lives_in"), in any case.
    pub kind: String,
    pub to: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    #[serde(flatten)]
    pub key: RelationKey,
    pub attributes: BTreeMap<String, Value>,
    /// Applies to viewers that may see both ends.
    pub visibility: Visibility,
    pub provenance: Provenance,
}

/// A change of the graph.
#[derive(Clone, Debug)]
pub enum Change {
    /// Writes an entity over one with the same id.
    Put(Entity),
    /// Writes a relation over one with the same key.
    Tie(Relation),
    Remove(String),
    Untie(RelationKey),
}

/// Outcome of a batch, entities and relations counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

/// Filter for entities; the default matches all.
#[derive(Clone, Debug, Default)]
pub struct EntityFilter {
    pub ids: Option<Vec<String>>,
    /// With this name or alias, ignoring case and accents.
    pub named: Option<String>,
    /// With this text in its name or an alias, ignoring case and accents.
    pub containing: Option<String>,
    pub kind: Option<EntityKind>,
    pub tag: Option<String>,
    pub source: Option<String>,
    /// Most to return; 0: all.
    pub limit: usize,
}

/// A relation as seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    #[serde(flatten)]
    pub relation: Relation,
    pub other: Entity,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub entity: Entity,
    /// Outgoing first, by kind and name.
    pub ties: Vec<Tie>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    pub entity: Entity,
    /// Relations on the shortest path, from 1.
    pub depth: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Followed in either direction.
    #[serde(flatten)]
    pub relation: Relation,
    pub to: Entity,
}

#[derive(Clone, Debug)]
pub struct Around {
    pub ids: Vec<String>,
    /// Relations away at most, 1 to [`DEPTH_MAX`].
    pub depth: u32,
    /// Most to return; the nearest are kept.
    pub limit: usize,
}

/// The third layer.
pub trait Graph: Send + Sync {
    /// Applies all changes or none: entities in order, then relations in order. Both ends of a
    /// relation must exist.
    fn apply<'a>(&'a self, scope: &'a Scope, changes: Vec<Change>) -> StoreFuture<'a, Applied>;

    fn entities<'a>(
        &'a self,
        scope: &'a Scope,
        filter: EntityFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Entity>>;

    /// All relations that `viewer` may see with both their ends, by [`RelationKey`], each once.
    fn relations<'a>(&'a self, scope: &'a Scope, viewer: Viewer) -> StoreFuture<'a, Vec<Relation>>;

    /// An entity with its relations and their other ends, in one round trip.
    fn snapshot<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Snapshot>>;

    /// Entities near others over relations in either direction, without the starting ones: nearest
    /// first, then by name. Beyond the limit those with the first ids are kept.
    fn neighbours<'a>(
        &'a self,
        scope: &'a Scope,
        around: Around,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Neighbour>>;

    /// A shortest path over at most [`PATH_MAX`] relations in either direction; `None`: no such
    /// path.
    fn path<'a>(
        &'a self,
        scope: &'a Scope,
        from: &'a str,
        to: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Vec<Step>>>;
}

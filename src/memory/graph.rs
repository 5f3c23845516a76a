//! The world: its entities and the relations between them.
//!
//! Entry trait: [`Graph`]. **Never**: follows a relation to an entity that the viewer may not see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::Scope;

use super::{
    reply::StoreFuture,
    transcript::Uid,
    viewer::{Viewer, Visibility},
};

/// Largest depth of a neighbourhood, in relations.
pub const DEPTH_MAX: u32 = 3;

/// Longest path that is searched for, in relations.
pub const PATH_MAX: u32 = 6;

/// Kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// Somebody the game master plays.
    Npc,
    /// A player's character.
    Player,
    /// A place, from a room to a continent.
    Location,
    /// A thing somebody can hold or own.
    Item,
    /// People who belong together: a guild, a house, a cult.
    Faction,
    /// An event, past or to come.
    Event,
    /// A quest or task.
    Quest,
    /// An idea that is spoken of: a god, a law, a kind of magic.
    Concept,
    /// Lore: legends, history, rumours.
    Lore,
}

/// Something of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Its identity in the campaign, chosen by the caller.
    pub id: String,
    /// Its kind.
    pub kind: EntityKind,
    /// The full name, as it is said at the table.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Description, as far as it is known.
    pub description: String,
    /// Anything else, by name.
    pub attributes: BTreeMap<String, Value>,
    /// Tags to filter by.
    pub tags: Vec<String>,
    /// Topics: an NPC knows of the entity if it knows one of them; empty: everybody does.
    pub knowledge: Vec<String>,
    /// Viewers that may see it.
    pub visibility: Visibility,
    /// Its source ("campaign:goblin-king"); `None`: made here.
    pub source: Option<String>,
}

impl Entity {
    /// True if not everybody may know of it; what some NPCs have not heard of is no secret.
    pub fn is_gated(&self) -> bool {
        self.visibility.is_gated()
    }
}

/// Way in which a relation became known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It was said, or written by the game master.
    #[default]
    Stated,
    /// A model concluded it, and the game master agreed.
    Inferred,
}

/// Source of a relation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The session it was said in; `None`: in none.
    pub session: Option<String>,
    /// The utterance it comes from; forgetting that removes the relation.
    pub utterance: Option<Uid>,
    /// Way in which it became known.
    pub origin: Origin,
    /// Certainty, 0 to 1.
    pub confidence: f64,
}

/// The identity of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RelationKey {
    /// The entity it goes out from.
    pub from: String,
    /// The kind of relation ("lives_in"); case does not matter.
    pub kind: String,
    /// The entity it goes to.
    pub to: String,
}

/// Relation of one entity to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// Both ends, and the kind of relation.
    #[serde(flatten)]
    pub key: RelationKey,
    /// Anything else, by name.
    pub attributes: BTreeMap<String, Value>,
    /// Viewers that may see it, of those that may see both ends.
    pub visibility: Visibility,
    /// Its source.
    pub provenance: Provenance,
}

/// A change of the graph.
#[derive(Clone, Debug)]
pub enum Change {
    /// Writes an entity, in place of the one of the same id.
    Put(Entity),
    /// Writes a relation, in place of the one of the same key.
    Tie(Relation),
    /// Removes an entity and its relations.
    Remove(String),
    /// Removes a relation.
    Untie(RelationKey),
}

/// The outcome of a batch, in entities and relations together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Entities and relations that were not there before.
    pub added: u64,
    /// Entities and relations that were there and have changed.
    pub changed: u64,
    /// Entities and relations that are gone.
    pub removed: u64,
}

/// Narrows a list of entities; the default takes all.
#[derive(Clone, Debug, Default)]
pub struct EntityFilter {
    /// Only the entities with these ids.
    pub ids: Option<Vec<String>>,
    /// With this name or alias; case and accents do not matter.
    pub named: Option<String>,
    /// With these letters in the name or an alias; case and accents do not matter.
    pub containing: Option<String>,
    /// Of this type.
    pub kind: Option<EntityKind>,
    /// With this tag.
    pub tag: Option<String>,
    /// With a source that begins like this.
    pub source: Option<String>,
    /// The most to return; 0: all.
    pub limit: usize,
}

/// A relation as seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// The relation itself, seen from the entity asked for.
    #[serde(flatten)]
    pub relation: Relation,
    /// The entity at its other end.
    pub other: Entity,
}

/// An entity with everything around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The entity asked for.
    pub entity: Entity,
    /// Its relations, outgoing ones first, by type and name.
    pub ties: Vec<Tie>,
}

/// An entity near another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The entity that was reached.
    pub entity: Entity,
    /// Relations on the shortest way there, from 1.
    pub depth: u32,
}

/// One step of a path through the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The relation that was followed, in either direction.
    #[serde(flatten)]
    pub relation: Relation,
    /// The entity it leads to, whichever its direction.
    pub to: Entity,
}

/// A neighbourhood to look up.
#[derive(Clone, Debug)]
pub struct Around {
    /// Ids of the entities that are started from.
    pub ids: Vec<String>,
    /// Relations away at most, 1 to [`DEPTH_MAX`].
    pub depth: u32,
    /// The most to return; the nearest are kept.
    pub limit: usize,
}

/// The third layer.
pub trait Graph: Send + Sync {
    /// Applies all changes or none: entities in their order first, then relations in theirs. Both
    /// ends of a relation must exist.
    fn apply<'a>(&'a self, scope: &'a Scope, changes: Vec<Change>) -> StoreFuture<'a, Applied>;

    /// Entities, by name.
    fn entities<'a>(
        &'a self,
        scope: &'a Scope,
        filter: EntityFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Entity>>;

    /// An entity with its relations and the entities at their other ends, in one round trip.
    fn snapshot<'a>(
        &'a self,
        scope: &'a Scope,
        id: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Snapshot>>;

    /// The entities near others, over relations in either direction, the starting ones left out:
    /// nearest first, then by name. Where there are too many, those with the first ids are kept.
    fn neighbours<'a>(
        &'a self,
        scope: &'a Scope,
        around: Around,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Neighbour>>;

    /// A shortest path between two entities, over at most [`PATH_MAX`] relations in either
    /// direction; `None`: no such path.
    fn path<'a>(
        &'a self,
        scope: &'a Scope,
        from: &'a str,
        to: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Vec<Step>>>;
}

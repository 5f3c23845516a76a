//! What there is in the world and how it hangs together.
//!
//! Entry trait: [`Graph`]. **Never**: follows a relation to an entity that the viewer may not see.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CampaignKey, StoreFuture, Uid, Viewer, Visibility};

/// Relations that a neighbourhood reaches at most.
pub const DEPTH_MAX: u32 = 3;

/// Relations of the longest way that is looked for.
pub const PATH_MAX: u32 = 6;

/// What kind of thing an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityKind {
    /// Somebody the game master plays.
    Npc,
    /// A player's character.
    Player,
    /// A place.
    Location,
    /// A thing.
    Item,
    /// A group.
    Faction,
    /// Something that happens.
    Event,
    /// Something to do.
    Quest,
    /// An idea.
    Concept,
    /// What is told.
    Lore,
}

/// Something of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Its identity in the campaign, of the caller's making.
    pub id: String,
    /// What kind of thing it is.
    pub kind: EntityKind,
    /// Its name.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// What is known of it.
    pub description: String,
    /// Anything else, by name.
    pub attributes: BTreeMap<String, Value>,
    /// Words to sort by.
    pub tags: Vec<String>,
    /// Topics of which an NPC must know one to know of it; empty: everybody knows of it.
    pub knowledge: Vec<String>,
    /// Who may see it.
    pub visibility: Visibility,
    /// Where it comes from ("campaign:goblin-king"); `None`: made here.
    pub source: Option<String>,
}

/// How somebody came to say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It was said, or written by the game master.
    #[default]
    Stated,
    /// A model concluded it, and the game master agreed.
    Inferred,
}

/// Where a relation comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The session; `None`: from none.
    pub session: Option<String>,
    /// The utterance, whose end is its end.
    pub utterance: Option<Uid>,
    /// How.
    pub origin: Origin,
    /// 0 to 1.
    pub confidence: f64,
}

/// What tells relations apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RelationKey {
    /// The entity it goes out from.
    pub from: String,
    /// What it is ("lives_in"); case is nothing.
    pub kind: String,
    /// The entity it goes to.
    pub to: String,
}

/// How one entity stands to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// Between what, and what it is.
    #[serde(flatten)]
    pub key: RelationKey,
    /// Anything else, by name.
    pub attributes: BTreeMap<String, Value>,
    /// Who may see it, of those who may see both ends.
    pub visibility: Visibility,
    /// Where it comes from.
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

/// What a batch has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// New entities and relations.
    pub added: u64,
    /// Those that are not as before.
    pub changed: u64,
    /// Those that are gone.
    pub removed: u64,
}

/// Which entities.
#[derive(Clone, Debug, Default)]
pub struct EntityFilter {
    /// These.
    pub ids: Option<Vec<String>>,
    /// With this name or alias; case and accents are nothing.
    pub named: Option<String>,
    /// With these letters in the name or an alias; case and accents are nothing.
    pub containing: Option<String>,
    /// Of this type.
    pub kind: Option<EntityKind>,
    /// With this tag.
    pub tag: Option<String>,
    /// With a source that begins so.
    pub source: Option<String>,
    /// At most so many; 0: all.
    pub limit: usize,
}

/// A relation as seen from one of its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// The relation.
    #[serde(flatten)]
    pub relation: Relation,
    /// What is at its other end.
    pub other: Entity,
}

/// An entity with everything around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The entity.
    pub entity: Entity,
    /// Its relations, outgoing ones first, by type and name.
    pub ties: Vec<Tie>,
}

/// An entity near another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The entity.
    pub entity: Entity,
    /// Relations on the shortest way there, from 1.
    pub depth: u32,
}

/// One relation of a way through the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The relation.
    #[serde(flatten)]
    pub relation: Relation,
    /// The entity it leads to, whichever its direction.
    pub to: Entity,
}

/// What is near some entities.
#[derive(Clone, Debug)]
pub struct Around {
    /// The entities.
    pub ids: Vec<String>,
    /// Relations away at most, 1 to [`DEPTH_MAX`].
    pub depth: u32,
    /// At most so many; the nearest stay.
    pub limit: usize,
}

/// The third layer.
pub trait Graph: Send + Sync {
    /// Does all changes or none: those of entities in their order, then those of relations in theirs.
    /// A relation needs both its ends.
    fn apply<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        changes: Vec<Change>,
    ) -> StoreFuture<'a, Applied>;

    /// Entities, by name.
    fn entities<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        filter: EntityFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Entity>>;

    /// An entity with its relations and what is at their other ends, in one round trip.
    fn snapshot<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        id: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Snapshot>>;

    /// What is near, relations followed in either direction, without the entities themselves: the
    /// nearest first, of equals by name. Where there are too many, it is those whose ids come first.
    fn neighbours<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        around: Around,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Neighbour>>;

    /// A shortest way between two entities, relations followed in either direction, of at most
    /// [`PATH_MAX`] of them; `None`: there is none.
    fn path<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        from: &'a str,
        to: &'a str,
        viewer: Viewer,
    ) -> StoreFuture<'a, Option<Vec<Step>>>;
}

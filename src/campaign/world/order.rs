//! Requests of game masters about the world of their campaign, and their answers.
//!
//! Entry types: [`WorldOrder`], [`WorldAnswer`]. **Never**: knows how it is kept.

use crate::{
    campaign::PlayedCampaign,
    domain::{EntityKind, Scope},
};

/// A request about one world.
#[derive(Clone, Debug)]
pub struct WorldRequest {
    /// Owner and campaign of the world.
    pub scope: Scope,
    /// The campaign it is of; `None`: the configured one.
    pub played: Option<PlayedCampaign>,
    /// The question or change.
    pub order: WorldOrder,
}

/// An entity that is to be added.
#[derive(Clone, Debug)]
pub struct NewEntity {
    /// Its name; nothing else is called so.
    pub name: String,
    /// Its kind.
    pub kind: EntityKind,
    /// Description of it.
    pub description: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Known to the game master alone.
    pub dm_only: bool,
}

/// A file as somebody has sent it.
#[derive(Clone, Debug)]
pub struct SentFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A question about the world, or a change.
#[derive(Clone, Debug)]
pub enum WorldOrder {
    /// A new entity.
    Add(NewEntity),
    /// All entities, or those of a kind.
    List(Option<EntityKind>),
    /// Everything about the one called so.
    Show(String),
    /// Checks that the entity of this name can be removed.
    Find(String),
    /// Removes the one of this id, and its relations.
    Remove(String),
    /// Takes in a campaign file.
    Import(SentFile),
    /// Takes in a campaign file as a campaign of its own.
    Load(SentFile),
    /// Overview of the campaign.
    Info,
}

/// Result of a request.
#[derive(Clone, Debug, Default)]
pub struct WorldAnswer {
    /// Text for the game master.
    pub text: String,
    /// The id of the entity that was meant.
    pub entity: Option<String>,
    /// The campaign that was loaded.
    pub campaign: Option<PlayedCampaign>,
    /// Names of all entities there are now.
    pub names: Vec<String>,
}

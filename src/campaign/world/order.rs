//! What game masters ask of the world of their campaign, and have done to it.
//!
//! Entry types: [`WorldOrder`], [`WorldAnswer`]. **Never**: knows how it is kept.

use crate::{
    campaign::PlayedCampaign,
    domain::{EntityKind, Scope},
};

/// What is asked of which world.
#[derive(Clone, Debug)]
pub struct WorldRequest {
    /// Whose world is meant.
    pub scope: Scope,
    /// The campaign it is of; `None`: the configured one.
    pub played: Option<PlayedCampaign>,
    /// What is asked.
    pub order: WorldOrder,
}

/// An entity that is to be added.
#[derive(Clone, Debug)]
pub struct NewEntity {
    /// Its name; nothing else is called so.
    pub name: String,
    /// What kind of thing it is.
    pub kind: EntityKind,
    /// What is known of it.
    pub description: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Known to the game master alone.
    pub dm_only: bool,
}

/// A file as somebody has sent it.
#[derive(Clone, Debug)]
pub struct SentFile {
    /// What it is called.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What is asked, or to be done.
#[derive(Clone, Debug)]
pub enum WorldOrder {
    /// A new entity.
    Add(NewEntity),
    /// All entities, or those of a kind.
    List(Option<EntityKind>),
    /// Everything about the one called so.
    Show(String),
    /// Whether the one called so can be removed.
    Find(String),
    /// Removes the one of this id, and its relations.
    Remove(String),
    /// Takes in a campaign file.
    Import(SentFile),
    /// Takes in a campaign file as a campaign of its own.
    Load(SentFile),
    /// What there is of the campaign.
    Info,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct WorldAnswer {
    /// What to tell the game master.
    pub text: String,
    /// The id of the entity that was meant.
    pub entity: Option<String>,
    /// The campaign that was loaded.
    pub campaign: Option<PlayedCampaign>,
    /// Names of all entities there are now.
    pub names: Vec<String>,
}

//! The world of a campaign: import of files, game masters' changes, and names.
//!
//! Entry type: [`WorldEdits`]; functions [`plan()`], [`entities_of_no_file`]. **Never**: changes an
//! entity of the configured campaign file, except from that file.

mod entities;
mod orders;
mod plan;

pub use entities::{IMPORT, entities_of_no_file};
pub use orders::WorldEdits;
pub use plan::{ImportError, Plan, plan, seed};

use crate::{
    campaign::PlayedCampaign,
    domain::{EntityKind, Scope},
};

#[derive(Clone, Debug)]
pub struct WorldRequest {
    pub scope: Scope,
    /// `None`: the configured campaign.
    pub played: Option<PlayedCampaign>,
    pub order: WorldOrder,
}

#[derive(Clone, Debug)]
pub struct NewEntity {
    /// Not in use yet.
    pub name: String,
    pub kind: EntityKind,
    pub description: String,
    pub aliases: Vec<String>,
    /// Known to the game master alone.
    pub dm_only: bool,
}

#[derive(Clone, Debug)]
pub struct SentFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub enum WorldOrder {
    Add(NewEntity),
    /// All entities, or those of a kind.
    List(Option<EntityKind>),
    /// By name.
    Show(String),
    /// Checks that the entity of this name can be removed.
    Find(String),
    /// By id, with its relations.
    Remove(String),
    /// Imports a campaign file.
    Import(SentFile),
    /// Imports a campaign file as a campaign of its own.
    Load(SentFile),
    Info,
}

#[derive(Clone, Debug, Default)]
pub struct WorldAnswer {
    pub text: String,
    /// Id of the entity concerned.
    pub entity: Option<String>,
    /// The loaded campaign.
    pub campaign: Option<PlayedCampaign>,
    /// Names of all entities now.
    pub names: Vec<String>,
}

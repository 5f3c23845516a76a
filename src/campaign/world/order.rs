//! What game masters ask of the world of their campaign, and have done to it.
//!
//! Entry types: [`WorldOrder`], [`WorldAnswer`]. **Never**: knows how it is kept.

use crate::{campaign::PlayedCampaign, domain::EntityKind};

/// What is asked, or to be done.
#[derive(Clone, Debug)]
pub enum WorldOrder {
    /// A new entity.
    Add {
        /// Its name; nothing else is called so.
        name: String,
        /// What kind of thing it is.
        kind: EntityKind,
        /// What is known of it.
        description: String,
        /// Other names for it.
        aliases: Vec<String>,
        /// Known to the game master alone.
        dm_only: bool,
    },
    /// All entities, or those of a kind.
    List(Option<EntityKind>),
    /// Everything about the one called so.
    Show(String),
    /// Whether the one called so can be removed.
    Find(String),
    /// Removes the one of this id, and its relations.
    Remove(String),
    /// Takes in a campaign file.
    Import {
        /// Its name.
        file: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// Takes in a campaign file as a campaign of its own.
    Load {
        /// Its name.
        file: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// What there is of the campaign.
    Info,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct WorldAnswer {
    /// In words.
    pub text: String,
    /// The id of the entity that was meant.
    pub entity: Option<String>,
    /// The campaign that was loaded.
    pub campaign: Option<PlayedCampaign>,
    /// Names of all entities there are now.
    pub names: Vec<String>,
}

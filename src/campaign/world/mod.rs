//! The world of a campaign: import of files, game masters' changes, and names.
//!
//! Entry type: [`WorldEdits`]; functions [`plan()`], [`entities_of_no_file`]. **Never**: changes an
//! entity of the configured campaign file, except from that file.

mod entities;
mod orders;
mod plan;
mod seeded;

pub use entities::{BROUGHT, IMPORT, PRONUNCIATION, SECRETS, entities_of_no_file, kind, word};
pub use orders::WorldEdits;
pub use plan::{Described, ImportError, Plan, plan, plan_entities, seed};
pub use seeded::SeededWorlds;

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

/// Import of a file of any program.
#[derive(Clone, Debug)]
pub struct FileImport {
    pub file: SentFile,
    pub choices: ImportChoices,
}

/// The game master's choices about an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportChoices {
    /// A file without NPCs is refused.
    pub npcs: bool,
    /// Name of the voice for every NPC; `None`: one that fits each.
    pub voice: Option<String>,
    /// NPCs know their own secrets; otherwise only the game master does.
    pub knows_secrets: bool,
    /// Imports at once instead of showing what would change.
    pub confirmed: bool,
    /// NPCs join no other guild's cast.
    pub has_own_cast: bool,
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
    /// Imports a campaign file, or previews a file of another program.
    Import(FileImport),
    /// Imports a file that was previewed.
    ImportPreviewed {
        /// Of the preview.
        key: String,
        knows_secrets: bool,
        has_own_cast: bool,
    },
    /// Imports a campaign file as a campaign of its own.
    Load(SentFile),
    Info,
}

/// Stage of an import of another program's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportStage {
    /// It waits for the game master.
    Previewed {
        key: String,
        /// NPCs have secrets that only the game master would know.
        has_secrets: bool,
    },
    /// It is done, or nothing is new.
    Ended,
}

#[derive(Clone, Debug, Default)]
pub struct WorldAnswer {
    pub text: String,
    /// Id of the entity concerned.
    pub entity: Option<String>,
    /// The loaded campaign.
    pub campaign: Option<PlayedCampaign>,
    /// `None`: it was no import, or that of a campaign file.
    pub import: Option<ImportStage>,
    /// Names of all entities now.
    pub names: Vec<String>,
}

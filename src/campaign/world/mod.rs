//! The world of a campaign: import of files, game masters' changes, and names.
//!
//! Entry type: [`WorldEdits`]; functions [`plan()`], [`entities_of_no_file`]. **Never**: changes an
//! entity of the configured campaign file, except from that file.

mod entities;
mod order;
mod orders;
mod plan;

pub use entities::{BROUGHT, IMPORT, PRONUNCIATION, SECRETS, entities_of_no_file, kind};
pub use order::{
    FileImport, ImportChoices, ImportStage, NewEntity, SentFile, WorldAnswer, WorldOrder,
    WorldRequest,
};
pub use orders::WorldEdits;
pub use plan::{Described, ImportError, Plan, plan, plan_entities, seed};

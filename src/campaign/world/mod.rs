//! The world of a campaign: import of files, game masters' changes, and names.
//!
//! Entry type: [`WorldEdits`]; functions [`plan()`], [`entities_of_no_file`]. **Never**: changes an
//! entity of the configured campaign file, except from that file.

mod entities;
mod error;
mod order;
mod orders;
mod plan;
mod service;

pub use entities::{IMPORT, entities_of_no_file};
pub use order::{NewEntity, SentFile, WorldAnswer, WorldOrder, WorldRequest};
pub use plan::{ImportError, Plan, plan, seed};
pub use service::WorldEdits;

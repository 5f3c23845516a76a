//! The world of a campaign: its files into the store, what game masters do to it, and its names.
//!
//! Entry type: [`WorldEdits`]; functions [`plan()`], [`entities_of_no_file`]. **Never**: changes an
//! entity that belongs to the configured campaign file, unless by that file.

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

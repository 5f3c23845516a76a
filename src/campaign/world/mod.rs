//! The world of a campaign: its files into the store, what game masters do to it, and its names.
//!
//! Entry functions: [`plan`], [`carry_out`], [`entities_of_no_file`]. **Never**: changes an entity that
//! belongs to the configured campaign file, unless by that file.

mod entities;
mod order;
mod orders;
mod plan;

pub use entities::{CAMPAIGN_FILE, IMPORT, entities_of_no_file};
pub use order::{WorldAnswer, WorldOrder};
pub use orders::{WorldOf, carry_out};
pub use plan::{ImportError, Plan, plan};

//! Slash commands: one file for each that only Discord has; shared ones (`shared.rs`) and the table
//! of all (`listed.rs`).
//!
//! Entry items: [`ALL`], [`Call`], [`Answer`]. **Never**: waits on the guild's task.

mod answer;
mod ask;
mod attached;
mod choices;
mod command;
mod effects;
mod entity;
mod face;
mod import;
mod listed;
mod parts;
mod privacy;
mod records;
mod roll;
mod session;
mod setup;
mod shared;
mod tools;
mod voice;
mod world;

#[cfg(test)]
pub mod tests;

pub use answer::{Answer, Refusal};
pub use choices::{choices, typed};
pub use command::{Call, Who};
pub use entity::{keep as keep_entity, removed as remove_entity};
pub use import::import as import_previewed;
pub use listed::{ALL, Command, offers};
pub use privacy::{delete_own, purge};
pub use session::{FactPress, press_fact, turn_page};
pub use setup::choose as choose_setup;
pub use shared::shown;
pub use voice::hear as hear_voice;

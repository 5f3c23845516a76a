//! Slash commands: one file each, one table of all.
//!
//! Entry items: [`ALL`], [`Call`], [`Answer`]. **Never**: waits on the guild's task.

mod answer;
mod ask;
mod campaign;
mod character;
mod choices;
mod command;
mod effects;
mod entity;
mod help;
mod npc;
mod parts;
mod privacy;
mod roll;
mod say;
mod scene;
mod session;
mod setup;
mod tier;
mod tools;
mod world;
mod xcard;

#[cfg(test)]
pub mod tests;

pub use answer::{Answer, Refusal};
pub use choices::{choices, typed};
pub use command::{Call, Command, Who};
pub use entity::{keep as keep_entity, removed as remove_entity};
pub use privacy::{delete_own, purge};
pub use session::{FactPress, press_fact, turn_page};
pub use setup::choose as choose_setup;
pub use xcard::halt;

/// Every command, in the order of `/help`.
pub const ALL: &[Command] = &[
    setup::COMMAND,
    session::COMMAND,
    npc::COMMAND,
    say::COMMAND,
    ask::COMMAND,
    character::COMMAND,
    scene::COMMAND,
    entity::COMMAND,
    campaign::COMMAND,
    tier::COMMAND,
    tools::COMMAND,
    roll::COMMAND,
    privacy::COMMAND,
    xcard::COMMAND,
    help::COMMAND,
];

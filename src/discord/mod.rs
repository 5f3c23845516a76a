//! Discord: the bot that a game master invites.
//!
//! Entry function: [`run`]. Only this module knows serenity and songbird.

mod access;
mod actions;
mod admission;
mod bot;
mod bot_state;
mod capacity;
mod commands;
mod decisions;
mod deletions;
mod diagnostics;
mod gateway_events;
mod guild;
mod guilds;
mod interactions;
mod invite;
mod options;
mod registration;
mod responder;
mod rest;
mod schedules;
mod served_shards;
mod shard;
mod shards;
mod tenure;
mod ui;
mod voice;

pub use admission::code as admission_code;
pub use bot::run;
pub use diagnostics::diagnose;
pub use invite::{Invitation, MAKE_PRIVATE, invite};
pub use options::Options;
pub use shards::{BALANCE_EVERY, Sharing, renewed_every, surplus};

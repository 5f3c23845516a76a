//! Discord: the bot that a game master invites.
//!
//! Entry function: [`run`]. The only place that knows serenity and songbird. **Never**: decides who
//! speaks, or what an NPC says.

mod access;
mod actions;
mod bot;
mod commands;
mod decisions;
mod diagnostics;
mod guild;
mod interactions;
mod invite;
mod options;
mod registration;
mod responder;
mod rest;
mod ui;
mod voice;

pub use bot::run;
pub use diagnostics::diagnose;
pub use invite::{Invitation, invite};
pub use options::Options;

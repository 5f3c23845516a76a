//! Discord: the bot that a game master invites.
//!
//! Entry function: [`run`]. The only place that knows serenity and songbird. **Never**: decides who
//! speaks, or what an NPC says.

mod access;
mod bot;
mod buttons;
mod commands;
mod effects;
mod guild;
mod house;
mod live;
mod options;
mod people;
mod registration;
mod reply;
mod settings;
mod using;
mod voice;
mod watch;

pub use bot::run;
pub use house::{House, Opened, Opening};
pub use options::{Consent, Options, Token};

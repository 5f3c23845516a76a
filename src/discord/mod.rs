//! Discord: the bot that a game master invites.
//!
//! Entry function: [`run`]. The only place that knows serenity and songbird. **Never**: decides who
//! speaks, or what an NPC says.

mod access;
mod board;
mod bot;
mod buttons;
mod commands;
mod desk;
mod effects;
mod forms;
mod guild;
mod health;
mod house;
mod live;
mod notices;
mod noting;
mod options;
mod outbox;
mod panel;
mod people;
mod registration;
mod reply;
mod settings;
mod trial;
mod using;
mod voice;
mod watch;

pub use bot::run;
pub use house::{House, Opened, Opening, Service, Services, Written};
pub use options::{Consent, Options, Token};
pub use settings::AddedServer;

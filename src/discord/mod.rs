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
mod examine;
mod facts;
mod forms;
mod guild;
mod health;
mod house;
mod invite;
mod live;
mod notices;
mod noting;
mod options;
mod outbox;
mod panel;
mod people;
mod registration;
mod reply;
mod rest;
mod trial;
mod using;
mod voice;
mod watch;
mod world;

pub use bot::run;
pub use examine::examine;
pub use house::{House, Opened, Opening, Wish, Written};
pub use invite::{Invitation, invite};
pub use options::{Options, Token};

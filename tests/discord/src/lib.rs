#![doc = include_str!("../README.md")]

mod clock;
mod discord;
mod gateway;
mod interactions;
mod options;
mod rest;
mod state;
mod stream;
mod tls;
mod voice;
mod world;

pub use discord::Discord;
pub use interactions::{Answer, Response, Slash};
pub use options::{Limit, Options};
pub use rest::{Fault, Request};
pub use voice::{Player, Seat, VoiceOptions};
pub use world::{Guild, Member, Message, Overwrite, Version, permission};

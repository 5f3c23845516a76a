#![doc = include_str!("../README.md")]
#![warn(missing_docs, clippy::missing_errors_doc)]

mod clock;
mod discord;
mod gateway;
mod interactions;
mod options;
mod player;
mod rest;
mod state;
mod stream;
mod tls;
mod voice;
mod world;

pub use discord::Discord;
pub use interactions::{Answer, Response, Slash};
pub use options::{Limit, Options};
pub use player::{AUDIBLE, Packet, Player, Seat, Speech, Spoken, laughter};
pub use rest::{Fault, Request};
pub use tls::Certificates;
pub use voice::{Counts, Faults, GroupStatus, Mode, Scope, Sound, Voice, VoiceOptions};
pub use world::{Guild, Member, Message, Overwrite, Version, permission};

//! Voice: players' packets in, NPCs' tracks out.
//!
//! Entry type: [`VoiceConnection`]. **Never**: decides who may be heard, or knows a guild's settings;
//! the guild fills its [`Audience`](audience::Audience).

mod audience;
mod connection;
mod decoding;
mod driver_events;
mod pace;
mod receiver;
mod reorder;
mod track_output;

pub use connection::{TableAudio, VoiceConnection, config, track_output};
pub use driver_events::VoiceNews;
pub use receiver::Heard;
pub use track_output::LEAD;

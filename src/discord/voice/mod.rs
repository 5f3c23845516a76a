//! Voice: players' packets in, NPCs' tracks out.
//!
//! Entry type: [`VoiceConnection`]. **Never**: decides who may be heard, or knows a guild's settings;
//! the guild fills its [`Audience`](audience::Audience).

mod audience;
mod connection;
mod decoding;
mod driver_events;
mod music_track;
mod pace;
mod receiver;
mod reorder;
mod source;
mod state;
mod track_output;

pub use connection::{ConnectError, Connector, TableAudio, VoiceConnection, config, track_output};
pub use driver_events::VoiceNews;
pub use receiver::Reception;
pub use state::ConnectionState;
pub use track_output::LEAD;

//! Voice: players' packets in, NPCs' tracks out.
//!
//! Entry type: [`VoiceConnection`]. **Never**: decides who may be heard; the guild fills its
//! [`Audience`](audience::Audience).

mod audience;
mod connection;
mod decoding;
mod driver_events;
mod music_track;
mod pace;
mod receiver;
mod reorder;
mod source;
mod track_output;

pub use connection::{
    ConnectError, ConnectionState, Connector, TableAudio, VoiceConnection, config, track_output,
};
pub use driver_events::VoiceNews;
pub use receiver::Reception;
pub use track_output::LEAD;

//! ElevenLabs as a voice: Flash and its relatives over the multi-context socket.
//!
//! Entry types: [`ElevenLabs`], a dialect of [`super::socket`]; [`list()`]. A turn is a context, a
//! sentence is flushed, and the times of its characters tell where words and sentences end. Names
//! are respelled. The service speaks at 0.7 to 1.2 times the normal speed; other speeds, and pitch,
//! are applied to the sound. **Never**: the key or the speech in the log.

mod address;
mod alignment;
mod client;
mod failure;
mod line;
mod list;
#[cfg(test)]
mod tests;

#[cfg(test)]
#[expect(dead_code, reason = "tests of the real program use the rest")]
#[path = "../../../../tests/support/elevenlabs/mod.rs"]
mod elevenlabs_server;

pub use self::address::{BASE_URL, MODEL, NAME, can_speak};
pub use self::client::ElevenLabs;
pub use self::list::list;
#[cfg(test)]
use super::socket::Options;
pub use super::socket::{FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT};
#[cfg(test)]
use crate::provider::remote::socket_server;
use crate::provider::{DefaultId, VoiceIds, VoiceTraits};

pub const TRAITS: VoiceTraits = VoiceTraits {
    name: NAME,
    ids: VoiceIds::Unknown,
    default_id: DefaultId::Required,
    english_only: false,
    shifts_formants: false,
};

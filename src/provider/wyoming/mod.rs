//! Local services that speak Wyoming: recognisers such as faster-whisper and vosk, voices such as
//! Piper.
//!
//! Entry types: [`Recogniser`], [`Speech`], each made from [`Options`]; [`probe_recogniser`] and
//! [`probe_voice`]; [`list_voices`]. Each utterance and each sentence has its own connection, whose closing cancels
//! it. **Never**: sends an utterance twice.

mod connection;
mod event;
mod failure;
mod info;
mod options;
mod recogniser;
mod sound;
mod speech;
mod transcript;

#[cfg(test)]
#[path = "../../../tests/support/wyoming.rs"]
mod wyoming_server;

pub use options::{NAME, Options};
pub use recogniser::{Recogniser, probe as probe_recogniser};
pub use speech::{Speech, VOICE_TRAITS, list as list_voices, probe as probe_voice};

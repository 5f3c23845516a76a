//! Sentences to speech.
//!
//! Entry types: [`Synthesizer`], an NPC's voice, and [`TurnVoice`], its speech in one turn.

mod fillers;
mod levelling;
mod levels;
mod paid_speech;
mod saying;
mod shaping;
mod synthesizer;
mod turn_voice;
mod voiced;

pub use fillers::{Filler, Fillers};
pub use levels::{VoiceKey, VoiceLevels};
pub use shaping::Shaping;
pub use synthesizer::Synthesizer;
pub use turn_voice::TurnVoice;

//! Result of one frame of a speaker's sound.
//!
//! Entry types: [`FrameResult`], [`Edge`].

use crate::{logic::vad::Voicing, provider::Error};

/// Beginning or end of speech at a frame.
pub enum Edge {
    /// Somebody begins to speak, or goes on after a short pause.
    Opened {
        /// It belongs to the utterance before.
        continues: bool,
    },
    /// Somebody has finished.
    Closed,
    /// A click; no utterance.
    Blip,
}

/// Result of one frame.
pub struct FrameResult {
    /// Result of the voice detector.
    pub voicing: Voicing,
    /// Beginning or end of an utterance at this frame.
    pub edge: Option<Edge>,
    /// Error, if the budget did not pay the recogniser for it.
    pub refused: Option<Error>,
}

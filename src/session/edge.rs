//! What a frame of a speaker's sound comes to.
//!
//! Entry types: [`FrameHeard`], [`Edge`].

use crate::{logic::vad::Voicing, provider::Error};

/// What a frame led to.
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

/// What a frame came to.
pub struct FrameHeard {
    /// Whether there is a voice in it.
    pub voicing: Voicing,
    /// Where it begins or ends an utterance.
    pub edge: Option<Edge>,
    /// Why the recogniser is not paid for it, if so.
    pub refused: Option<Error>,
}

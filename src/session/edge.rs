//! Result of one frame of a speaker's sound.

use crate::{logic::vad::Voicing, provider::Error};

pub enum Edge {
    Opened {
        continues: bool,
    },
    Closed,
    /// A click, not an utterance.
    Blip,
}

pub struct FrameResult {
    pub voicing: Voicing,
    pub edge: Option<Edge>,
    /// Error if the budget refused to pay the recogniser.
    pub refused: Option<Error>,
}

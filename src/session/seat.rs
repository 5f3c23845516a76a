//! An NPC at the table.

use std::sync::Arc;

use super::turns::{Cast, Waiting};
use crate::{domain::Npc, engine::VoiceEngine};

/// An NPC at the table: who it is, what makes its speech, and who waits for it.
pub struct Seat {
    /// Who.
    pub npc: Arc<Npc>,
    /// What makes its speech.
    pub engine: Box<dyn VoiceEngine>,
    /// Name of its chat model.
    pub brain: String,
    /// Name of its voice service.
    pub tts: String,
    /// Utterances it has not begun to answer, in order of end of speech.
    pub(super) waiting: Waiting,
    /// Silenced by the game master.
    pub(super) muted: bool,
    /// It has spoken to this table before.
    pub(super) has_spoken: bool,
}

impl Seat {
    /// An NPC that sits down.
    pub fn new(npc: Arc<Npc>, engine: Box<dyn VoiceEngine>, brain: &str, tts: &str) -> Self {
        let has_spoken = !engine.history().is_empty();
        Self {
            npc,
            engine,
            brain: brain.to_owned(),
            tts: tts.to_owned(),
            waiting: Waiting::new(),
            muted: false,
            has_spoken,
        }
    }

    /// Who answers, for reports.
    pub(super) fn cast(&self) -> Cast {
        Cast { npc: self.npc.name.clone(), brain: self.brain.clone(), tts: self.tts.clone() }
    }
}

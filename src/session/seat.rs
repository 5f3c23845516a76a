//! An NPC at the table.

use std::{fmt, sync::Arc};

use super::turns::{Cast, Waiting};
use crate::{
    domain::{Message, Npc},
    engine::VoiceEngine,
    provider::Error,
};

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
    /// How it goes on after its turn.
    pub(super) recast: Option<MakeSeat>,
}

/// Makes a seat that goes on from a conversation.
pub type MakeSeat = Box<dyn FnOnce(Vec<Message>) -> Result<Seat, Error> + Send + Sync>;

/// An NPC described anew.
pub struct Recast {
    /// Its name, which stays.
    pub npc: String,
    /// Makes its new seat.
    pub seat: MakeSeat,
}

impl fmt::Debug for Recast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recast").field("npc", &self.npc).finish_non_exhaustive()
    }
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
            recast: None,
        }
    }

    /// Goes on as the NPC is described anew, when it was.
    ///
    /// # Errors
    /// Its services cannot be reached as described; it goes on as before.
    pub(super) fn go_on(&mut self) -> Option<Result<(), Error>> {
        let make = self.recast.take()?;
        let made = make(self.engine.history().to_vec());
        Some(made.map(|fresh| {
            self.npc = fresh.npc;
            self.engine = fresh.engine;
            self.brain = fresh.brain;
            self.tts = fresh.tts;
        }))
    }

    /// Who answers, for reports.
    pub(super) fn cast(&self) -> Cast {
        Cast { npc: self.npc.name.clone(), brain: self.brain.clone(), tts: self.tts.clone() }
    }
}

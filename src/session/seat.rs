//! An NPC at the table.
//!
//! Entry type: [`Seat`]. **Never**: decides when it is its turn.

use std::sync::Arc;

use super::{
    line::TierLine,
    speakers::SpeakerId,
    utterance::{Cast, Purpose, Waiting},
};
use crate::{
    domain::{Npc, TurnId},
    engine::{Conversation, VoiceEngine},
    provider::Error,
};

/// An NPC at the table: who it is, what makes its speech, and who waits for it.
pub struct Seat {
    /// The seat's NPC, as described.
    pub npc: Arc<Npc>,
    /// Utterances said to it and its answers; they stay when the engine is replaced.
    pub conversation: Conversation,
    /// Engine of its speech.
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
    /// The game master's secret note for it.
    pub(super) note: Option<Note>,
    /// Tier of its last turn.
    pub(super) last_tier: Option<TierLine>,
    /// The speaker whose sound its engine receives while they speak.
    pub(super) sounding: Option<SpeakerId>,
    /// Reason the cascade made its last answer; `None`: its own engine did.
    pub(super) replaced: Option<String>,
    /// Change due after its turn.
    pub(super) next: Option<Next>,
    /// It is not at the table any more.
    pub(super) has_left: bool,
}

/// Change of an NPC after its turn.
pub(super) enum Next {
    /// It goes on as described now.
    Recast(MakeSeat),
    /// Not at this table.
    Leave,
}

/// Makes the seat of an NPC that has heard nothing yet.
pub type MakeSeat = Box<dyn FnOnce() -> Result<Seat, Error> + Send + Sync>;

impl Seat {
    /// An NPC that sits down.
    pub fn new(
        npc: Arc<Npc>,
        conversation: Conversation,
        engine: Box<dyn VoiceEngine>,
        brain: &str,
        tts: &str,
    ) -> Self {
        let has_spoken = !conversation.messages().is_empty();
        Self {
            npc,
            conversation,
            engine,
            brain: brain.to_owned(),
            tts: tts.to_owned(),
            waiting: Waiting::new(),
            muted: false,
            has_spoken,
            note: None,
            last_tier: None,
            sounding: None,
            replaced: None,
            next: None,
            has_left: false,
        }
    }

    /// Goes on as the NPC is described now.
    ///
    /// # Errors
    /// Its services cannot be reached as described; it goes on as before.
    pub(super) fn go_on(&mut self, make: MakeSeat) -> Result<(), Error> {
        let fresh = make()?;
        self.npc = fresh.npc;
        self.conversation.go_on_as(fresh.conversation);
        self.engine = fresh.engine;
        self.brain = fresh.brain;
        self.tts = fresh.tts;
        Ok(())
    }

    /// Position in [`Self::waiting`] of the turn that begins next; while the table is paused only
    /// the game master's own words do.
    pub(super) fn next_in_turn(&self, paused: bool) -> Option<usize> {
        self.waiting.iter().position(|purpose| !paused || purpose.is_puppet())
    }

    /// Takes it out.
    pub(super) fn take_next(&mut self, paused: bool) -> Option<Purpose> {
        self.next_in_turn(paused).and_then(|index| self.waiting.remove(index))
    }

    /// The note for `turn`, which begins.
    pub(super) fn note_for(&mut self, turn: TurnId) -> Option<Arc<str>> {
        let note = self.note.as_mut()?;
        note.read_by = Some(turn);
        Some(Arc::clone(&note.text))
    }

    /// `turn` was heard: a note that it was given holds for one turn less.
    pub(super) fn note_used(&mut self, turn: TurnId) {
        let Some(note) = self.note.as_mut().filter(|note| note.read_by == Some(turn)) else {
            return;
        };
        note.turns = note.turns.map(|turns| turns.saturating_sub(1));
        if note.turns == Some(0) {
            self.note = None;
        }
    }

    /// Names of the NPC and its services, for reports.
    pub(super) fn cast(&self) -> Cast {
        Cast { npc: self.npc.name.clone(), brain: self.brain.clone(), tts: self.tts.clone() }
    }
}

/// A secret stage note for an NPC.
pub(super) struct Note {
    text: Arc<str>,
    /// For so many turns yet; `None`: until replaced.
    pub turns: Option<u32>,
    /// The last turn that was given it.
    read_by: Option<TurnId>,
}

impl Note {
    /// A note for so many turns; `None` when there is nothing in it or no turn for it.
    pub fn new(text: &str, turns: Option<u32>) -> Option<Self> {
        let text = text.trim();
        let is_none = text.is_empty() || turns == Some(0);
        (!is_none).then(|| Self { text: Arc::from(text), turns, read_by: None })
    }
}

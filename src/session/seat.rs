//! An NPC at the table.
//!
//! Entry type: [`Seat`].

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

pub struct Seat {
    pub npc: Arc<Npc>,
    /// Survives a replacement of the engine.
    pub conversation: Conversation,
    pub engine: Box<dyn VoiceEngine>,
    pub brain: String,
    pub tts: String,
    /// Utterances it has not begun to answer, in order of end of speech.
    pub(super) waiting: Waiting,
    /// Silenced by the game master or an X-card.
    pub(super) muted: bool,
    pub(super) has_spoken: bool,
    pub(super) note: Option<Note>,
    pub(super) last_tier: Option<TierLine>,
    /// The speaker whose sound its engine receives during their speech.
    pub(super) sounding: Option<SpeakerId>,
    /// Why the cascade made its last answer; `None`: its own engine did.
    pub(super) replaced: Option<String>,
    /// The voice that spoke last, if it is not the NPC's own.
    pub(super) other_voice: Option<String>,
    pub(super) next: Option<Next>,
    pub(super) has_left: bool,
}

pub(super) enum Next {
    Recast(MakeSeat),
    Leave,
}

/// Makes the seat of an NPC without a conversation.
pub type MakeSeat = Box<dyn FnOnce() -> Result<Seat, Error> + Send + Sync>;

impl Seat {
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
            other_voice: None,
            next: None,
            has_left: false,
        }
    }

    /// Applies a new description. If its services cannot be set up, it fails and the seat is
    /// unchanged.
    pub(super) fn go_on(&mut self, make: MakeSeat) -> Result<(), Error> {
        let fresh = make()?;
        self.npc = fresh.npc;
        self.conversation.go_on_as(fresh.conversation);
        self.engine = fresh.engine;
        self.brain = fresh.brain;
        self.tts = fresh.tts;
        Ok(())
    }

    /// Index in [`Self::waiting`] of the next turn; while paused only the game master's own words
    /// are taken.
    pub(super) fn next_in_turn(&self, paused: bool) -> Option<usize> {
        self.waiting.iter().position(|purpose| !paused || purpose.is_puppet())
    }

    pub(super) fn take_next(&mut self, paused: bool) -> Option<Purpose> {
        self.next_in_turn(paused).and_then(|index| self.waiting.remove(index))
    }

    pub(super) fn note_for(&mut self, turn: TurnId) -> Option<Arc<str>> {
        let note = self.note.as_mut()?;
        note.read_by = Some(turn);
        Some(Arc::clone(&note.text))
    }

    /// `turn` was played: counts down a note that it used; true if the note is for some turns only.
    pub(super) fn note_used(&mut self, turn: TurnId) -> bool {
        let Some(note) = self.note.as_mut().filter(|note| note.read_by == Some(turn)) else {
            return false;
        };
        note.turns = note.turns.map(|turns| turns.saturating_sub(1));
        let is_counted = note.turns.is_some();
        if note.turns == Some(0) {
            self.note = None;
        }
        is_counted
    }

    pub(super) fn cast(&self) -> Cast {
        Cast { npc: self.npc.name.clone(), brain: self.brain.clone(), tts: self.tts.clone() }
    }
}

pub(super) struct Note {
    pub text: Arc<str>,
    /// Remaining turns; `None`: until replaced.
    pub turns: Option<u32>,
    read_by: Option<TurnId>,
}

impl Note {
    /// `None` if the text or the number of turns is empty.
    pub fn new(text: &str, turns: Option<u32>) -> Option<Self> {
        let text = text.trim();
        let is_none = text.is_empty() || turns == Some(0);
        (!is_none).then(|| Self { text: Arc::from(text), turns, read_by: None })
    }
}

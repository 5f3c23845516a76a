//! The door between a table and whatever makes an NPC's speech.
//!
//! Entry type: [`VoiceEngine`]. **Never**: keeps the conversation, which belongs to the seat.

use std::{collections::VecDeque, sync::Arc};

use futures::future::BoxFuture;

use super::{PlayedPart, ReplyPort, Turn, TurnReport, conversation::Excerpt};
use crate::audio::Frame;

/// Makes the speech of one NPC at one table, one turn at a time.
///
/// The NPC's memories come with each turn, and additions to them come back in the turn's report, so
/// that another engine can answer the next turn.
pub trait VoiceEngine: Send {
    /// Starts answering; the caller runs the future. Speech comes out of `replies` as it is made.
    /// Cancel safe: dropping the future ends the turn, its requests and its calls.
    fn start(&mut self, turn: Arc<Turn>, replies: ReplyPort) -> BoxFuture<'static, TurnReport>;

    /// Takes the sound so far of somebody who is probably talking to the NPC; an empty one takes it
    /// back. The turn that answers them has it again, whole. Called with each frame while no turn runs.
    fn receive(&mut self, _sound: &VecDeque<Frame>) {}

    /// True if [`Self::receive`] does anything.
    fn receives_ahead(&self) -> bool {
        false
    }

    /// True if the turn started last is answered from its sound, as far as it goes: the final transcript may
    /// have other words for the same sound.
    fn answers_sound(&self) -> bool {
        false
    }

    /// The sound of the turn started last is over. Called once for each turn, also when nothing of
    /// it was played or its task broke off; a service that speaks for itself is cut off there.
    fn played(&mut self, played: &PlayedPart);

    /// True if a turn may cost something.
    fn costs(&self) -> bool;

    /// Prepares what can be prepared while nobody waits (filler lines, a session that knows the
    /// `conversation` up to now). Called when the NPC sits down, and after each turn once it is known
    /// what was played of it. Cancel safe.
    fn warm(&self, conversation: Excerpt) -> BoxFuture<'static, ()>;
}

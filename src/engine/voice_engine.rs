//! Interface between a table and the engines of NPC speech.
//!
//! Entry type: [`VoiceEngine`].

use std::{collections::VecDeque, sync::Arc};

use futures::future::BoxFuture;

use super::{PlayedPart, ReplyPort, Turn, TurnReport, conversation::Excerpt};
use crate::audio::Frame;

/// Makes the speech of one NPC at one table, one turn at a time. Memories come with each turn and
/// additions return in its report, so that another engine can answer the next turn.
pub trait VoiceEngine: Send {
    /// Starts answering; the caller runs the future. Speech goes to `replies` as it is made. Cancel
    /// safe: dropping the future ends the turn with its requests and calls.
    fn start(&mut self, turn: Arc<Turn>, replies: ReplyPort) -> BoxFuture<'static, TurnReport>;

    /// Takes the sound so far of a player who probably talks to the NPC; empty: withdraws it. The
    /// turn that answers has it again, whole. Called with each frame while no turn runs.
    fn receive(&mut self, _sound: &VecDeque<Frame>) {}

    /// True if [`Self::receive`] does anything.
    fn receives_ahead(&self) -> bool {
        false
    }

    /// True if the turn started last is answered from its sound: the final transcript may have
    /// other words for the same sound.
    fn answers_sound(&self) -> bool {
        false
    }

    /// Reports the played part of the last turn. Called once per turn, even if nothing was played
    /// or its task was lost; a service with its own memory truncates it there.
    fn played(&mut self, played: &PlayedPart);

    /// True if a turn may cost money.
    fn costs(&self) -> bool;

    /// Prepares fillers, or a session that knows `conversation`, while the table is free. Called
    /// when the NPC joins, and after each turn once its played part is known. Cancel safe.
    fn warm(&self, conversation: Excerpt) -> BoxFuture<'static, ()>;
}

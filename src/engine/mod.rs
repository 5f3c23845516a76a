//! One addressed utterance in, an NPC's speech out.
//!
//! Entry types: [`VoiceEngine`] makes the speech of one [`Turn`]; [`Conversation`] outlives
//! engines. The seat owns both and may replace the engine between turns. Knows no other turns, no
//! Discord and no store.

mod asking;
mod assistant;
mod budget;
mod calls;
mod cascaded;
mod conversation;
mod locked;
mod npc_model;
mod occasion;
mod opened;
mod opener;
mod payments;
mod prompt_record;
mod reply;
mod report;
mod speech;
mod speech_to_speech;
mod tool_loop;
mod traced;
mod trouble;
mod turn;

pub use assistant::{Assistant, Question};
pub use budget::{Budget, BudgetWriter, Reservation};
pub use calls::NpcCalls;
pub use cascaded::Cascaded;
pub use conversation::{Conversation, Summarising, Summary, forget_exchanges, said};
pub use npc_model::NpcModel;
pub use opener::Opener;
pub use payments::NpcPayments;
pub use prompt_record::PromptRecord;
pub use reply::{PlayedPart, Position, Reply, ReplyPort};
pub use report::{Failure, TurnReport};
pub use speech::{Shaping, Synthesizer, VoiceKey, VoiceLevels};
pub use speech_to_speech::{SessionLimits, SpeechToSpeech};
pub use turn::{Cause, Gate, Recall, Setting, Turn};

#[cfg(test)]
pub mod tests;

use std::{collections::VecDeque, sync::Arc};

use conversation::Excerpt;
use futures::future::BoxFuture;

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

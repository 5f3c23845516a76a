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
mod reply;
mod report;
mod size;
mod speech;
mod speech_to_speech;
mod tool_loop;
mod trouble;
mod turn;
mod voice_engine;

pub use assistant::{Assistant, Question};
pub use budget::{Budget, BudgetWriter, Reservation};
pub use calls::NpcCalls;
pub use cascaded::Cascaded;
pub use conversation::{Conversation, Summarising, Summary, forget_exchanges, said};
pub use npc_model::NpcModel;
pub use opener::Opener;
pub use payments::NpcPayments;
pub use reply::{PlayedPart, Position, Reply, ReplyPort};
pub use report::{Failure, TurnReport};
pub use speech::{Shaping, Synthesizer, VoiceKey, VoiceLevels};
pub use speech_to_speech::{SessionLimits, SpeechToSpeech};
pub use turn::{Cause, Gate, Recall, Setting, Turn};
pub use voice_engine::VoiceEngine;

#[cfg(test)]
pub mod tests;
